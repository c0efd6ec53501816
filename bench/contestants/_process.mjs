/** One contestant in a process of its own: it tells its rows, then takes a turn whenever the parent asks for one. */
import { calibrate, poolJobs, turn } from '../measure.mjs'

const [, , name, bundle] = process.argv
const { contestant } = await import(`./${name}.mjs`)
const rows = await contestant(bundle)

process.on('message', async ({ row, ask, inFlight, loops, milliseconds }) => {
  try {
    const work = rows[row]
    if (ask === 'calibrate') process.send({ loops: await calibrate(work, inFlight, milliseconds), jobs: await poolJobs(work) })
    else process.send(await turn(work, inFlight, loops))
  } catch (error) {
    process.send({ error: `${name}, ${row}: ${error?.stack ?? error}` })
  }
})
process.send({ rows: Object.keys(rows) })
