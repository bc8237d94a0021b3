// SPDX-License-Identifier: Apache-2.0
// Merges the detections of one face.
#pragma once

#include "face.h"

// Replaces faces that overlap by their averages, weighted with the probabilities; the most probable
// come first. Legal for no faces.
void suppress_weighted(struct faces* faces);
