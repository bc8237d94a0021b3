// SPDX-License-Identifier: Apache-2.0
#include "operator/custom/completion.h"

#include <pthread.h>
#include <stdio.h>

#include "tengine/custom_op.h"

static struct
{
    pthread_mutex_t mutex;
    pthread_cond_t ended;  // any of them
    ir_completion_t* first;
    uint64_t last_number;
} pending = {.mutex = PTHREAD_MUTEX_INITIALIZER, .ended = PTHREAD_COND_INITIALIZER};

void open_completion(ir_completion_t* out_completion)
{
    *out_completion = (ir_completion_t){0};
    pthread_mutex_lock(&pending.mutex);
    out_completion->number = ++pending.last_number;
    out_completion->next = pending.first;
    pending.first = out_completion;
    pthread_mutex_unlock(&pending.mutex);
}

// Removes a completion. Called with the lock held. NULL: it is over.
static ir_completion_t* take_out(uint64_t number)
{
    for (ir_completion_t** place = &pending.first; *place; place = &(*place)->next) {
        ir_completion_t* found = *place;
        if (found->number != number) continue;
        *place = found->next;
        return found;
    }
    return NULL;
}

void withdraw_completion(ir_completion_t* completion)
{
    pthread_mutex_lock(&pending.mutex);
    take_out(completion->number);
    pthread_mutex_unlock(&pending.mutex);
}

int wait_for_completion(ir_completion_t* completion)
{
    pthread_mutex_lock(&pending.mutex);
    while (!completion->is_over)
        pthread_cond_wait(&pending.ended, &pending.mutex);
    pthread_mutex_unlock(&pending.mutex);
    tengine_error_clear();
    const int status = completion->status;
    if (status != 0 && *completion->sentence != '\0')
        tengine_error_set(status < 0 ? status : TENGINE_EDEVICE, "%s", completion->sentence);
    return status;
}

int tengine_op_complete(tengine_op_completion_t completion, int status, const char* sentence)
{
    pthread_mutex_lock(&pending.mutex);
    ir_completion_t* found = take_out(completion);
    if (found) {
        found->status = status;
        snprintf(found->sentence, sizeof found->sentence, "%s", sentence ? sentence : "");
        found->is_over = true;
        pthread_cond_broadcast(&pending.ended);
    }
    pthread_mutex_unlock(&pending.mutex);
    if (found) return TENGINE_OK;
    return tengine_error_set(TENGINE_ENOENT, "%s: completion %llu is over, or never began",
                             __func__, (unsigned long long)completion);
}
