/** One contestant behind Express, in a process of its own: it tells its port, and then its CPU time and its queries whenever it is asked. */
import express from 'express'
import pg from 'pg'
import { provider } from './provider.mjs'

// Before any pool opens: adapters put functions of their own in front of a connection's.
let queries = 0
const { query } = pg.Client.prototype
pg.Client.prototype.query = function counted(...given) {
  queries++
  return query.apply(this, given)
}

const { name, ...settings } = JSON.parse(process.argv[2])
const { mount } = await import(`./${name}.mjs`)
const op = await provider()
const app = express()
// Listens first: some are told their origin once.
const server = app.listen(0, '127.0.0.1', async () => {
  const { port } = server.address()
  await mount(app, { ...settings, op, origin: `http://127.0.0.1:${port}` })
  process.send({ port })
})
// Longer than a contestant waits for its turn.
server.keepAliveTimeout = 120_000

process.on('message', async ({ sign }) => {
  if (sign) await op.sign(sign)
  const { user, system } = process.cpuUsage()
  process.send({ cpu: user + system, queries })
})
process.on('disconnect', () => process.exit())
