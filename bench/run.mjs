/**
 * `npm run bench` in this folder: every row beside the limit, Auth.js and better-auth, one process per contestant, in turn.
 * Options: --json (for machines), --write (docs/speed.md), --rounds, --in-flight, --only <row,row>, --beside <name,name>. Ratios are what counts: durations depend on the machine.
 */
import { fork } from 'node:child_process'
import { cpus, loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { bundle } from './authkernel.mjs'
import { decile } from './measure.mjs'
import { known, render, save } from './report.mjs'
import { rows } from './rows.mjs'
import { weigh } from './weight.mjs'

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '40' },
    'in-flight': { type: 'string', default: '1' },
    only: { type: 'string' },
    beside: { type: 'string', default: 'limit,authjs,better-auth' },
  },
})
const inFlight = Number(values['in-flight'])
const names = ['authkernel', ...values.beside.split(',')]
const { url, remove } = await bundle()
const contestants = Object.fromEntries(await Promise.all(names.map(async (name) => [name, await start(name)])))
const figures = { node: process.versions.node, cores: cpus().length, load: loadavg()[0], inFlight, rounds: Number(values.rounds), rows: {} }
try {
  for (const name of Object.keys(rows).filter((row) => !values.only || values.only.split(/,(?! )/).includes(row))) {
    if (process.stderr.isTTY) process.stderr.write(`\r${name.padEnd(30)}`)
    figures.rows[name] = await measure(name)
  }
} finally {
  for (const { child } of Object.values(contestants)) child.kill()
  remove()
}
const weight = values.only ? undefined : await weigh()
if (values.write) {
  // Rows that were not measured keep their figures.
  save('rows', { ...figures, rows: { ...known().rows?.rows, ...figures.rows } })
  if (weight) save('weight', weight)
}
console.log(values.json ? JSON.stringify({ ...figures, weight }, undefined, 2) : render({ rows: figures, weight }).split('\n## Why')[0])

async function start(name) {
  const child = fork(fileURLToPath(new URL('contestants/_process.mjs', import.meta.url)), [name, url], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const { rows: known } = await answer(child)
  return { child, known: new Set(known) }
}

async function measure(row) {
  const milliseconds = 20
  const taking = []
  for (const [name, { child, known }] of Object.entries(contestants)) {
    if (!known.has(row)) continue
    taking.push({ name, child, ...(await ask(child, { ask: 'calibrate', row, inFlight, milliseconds })), turns: [] })
  }
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const { child, loops, turns } of taking) turns.push(await ask(child, { ask: 'turn', row, inFlight, loops }))
  }
  const own = Object.fromEntries(
    taking.map(({ name, jobs, turns }) => [
      name,
      { wall: decile(turns.map(({ wall }) => wall)), cpu: decile(turns.map(({ cpu }) => cpu)), jobs },
    ]),
  )
  const limit = own.limit ?? figures.rows[rows[row].limit]?.limit
  return { ...own, ...(limit && { limit }) }
}

async function ask(child, message) {
  const reply = answer(child)
  child.send(message)
  const result = await reply
  if (result.error) throw new Error(result.error)
  return result
}

function answer(child) {
  return new Promise((resolve, reject) => {
    const ended = (code) => reject(new Error(`a contestant ended with ${code}`))
    child.once('exit', ended)
    child.once('message', (message) => {
      child.off('exit', ended)
      resolve(message)
    })
  })
}
