// SPDX-License-Identifier: Apache-2.0
// The results of compare_ort.mjs as one page that needs no other file: a chart of the ratios of times,
// and the table.
const BAR = 14, GAP = 8, LEFT = 250, WIDTH = 560;
const COLOURS = ['#2a6f97', '#e07a1f', '#5a8f29', '#8e4585'];

function escape(text) {
    return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

// For each model and shape the results with each number of threads, in the order of the report.
function byModel(results) {
    const groups = new Map();
    for (const result of results) {
        const name = `${result.model} ${result.shape}`;
        groups.set(name, [...groups.get(name) ?? [], result]);
    }
    return [...groups];
}

// Bars of our time as a ratio to ONNX Runtime's; left of the line at 1 we are faster.
function chart(report) {
    const threads = Object.keys(report.summary).map(Number);
    const measured = report.results.filter((result) => !result.failure);
    const groups = byModel(measured);
    const ratio = (result) => result.ours / result.theirs;
    const highest = Math.max(1.2, ...measured.map(ratio));
    const x = (value) => LEFT + value / highest * WIDTH;
    const groupHeight = threads.length * BAR + GAP;
    const height = groups.length * groupHeight + 30;
    const parts = groups.map(([model, results], i) => {
        const top = i * groupHeight;
        const bars = results.map((result, j) =>
            `<rect x="${LEFT}" y="${top + j * BAR}" width="${x(ratio(result)) - LEFT}" ` +
            `height="${BAR - 2}" fill="${COLOURS[threads.indexOf(result.threads) % COLOURS.length]}"/>` +
            `<text x="${x(ratio(result)) + 4}" y="${top + j * BAR + BAR - 4}">` +
            `${ratio(result).toFixed(2)}</text>`);
        const name = `<text x="${LEFT - 8}" y="${top + BAR - 3}" text-anchor="end">` +
            `${escape(model)}</text>`;
        return name + bars.join('');
    });
    const line = `<line x1="${x(1)}" x2="${x(1)}" y1="0" y2="${height - 24}" stroke="#444" ` +
        `stroke-dasharray="4 3"/><text x="${x(1)}" y="${height - 8}" text-anchor="middle">` +
        'ONNX Runtime</text>';
    return `<svg viewBox="0 0 ${LEFT + WIDTH + 60} ${height}" role="img">${parts.join('')}${line}</svg>`;
}

function legend(report) {
    return Object.entries(report.summary).map(([threads, { time }], i) =>
        `<span style="color:${COLOURS[i % COLOURS.length]}">&#9632;</span> ${threads} ` +
        `thread${threads === '1' ? '' : 's'}, geometric mean ${time.toFixed(2)}`).join(' &nbsp; ');
}

function table(columns, rows) {
    const line = (tag, cells) =>
        `<tr>${cells.map((cell) => `<${tag}>${escape(cell)}</${tag}>`).join('')}</tr>`;
    return `<table>${line('th', columns)}${rows.map((row) => line('td', row)).join('')}</table>`;
}

export function makePage(report, columns, rows) {
    const set = report.results.find((result) => result.machine)?.machine?.instructionSet;
    const facts = `ONNX Runtime ${report.ort}, ${report.cpu}${set ? `, ${set}` : ''}, tengine in ` +
        `${report.precision}, ${report.runs} runs each, taking turns; medians. Shorter is faster.`;
    return `<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>tengine and ONNX Runtime</title>
<style>
body { font: 14px sans-serif; margin: 2em; max-width: 70em }
svg { font: 11px sans-serif; max-width: 60em }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { padding: 2px 8px; text-align: right; border-bottom: 1px solid #ddd }
th:first-child, td:first-child { text-align: left }
</style>
<h1>Time as a ratio to ONNX Runtime's</h1>
<p>${escape(facts)}</p>
<p>${legend(report)}</p>
${chart(report)}
${table(columns, rows)}
</html>
`;
}
