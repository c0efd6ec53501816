/**
 * Runs a framework's own command among its surroundings: `node ../../scripts/dev.mjs ../_shared/run.ts vite dev --port :port`.
 * `:port` among the arguments becomes the port: PORT, else the first free one from 5173 on. BASE_PATH says where the app has its routes (default
 * /auth). Mails are printed.
 */
import { createServer } from 'node:net'
import { runGroup } from './group.ts'
import { copyStyle } from './style.ts'
import { startSurroundings } from './surroundings.ts'

const [command, ...args] = process.argv.slice(2)
if (!command) throw new Error('Usage: run.ts <command> [arguments]')
const port = process.env.PORT ? Number(process.env.PORT) : await freePort(5173)
if (!(await isFree(port))) throw new Error(`Port ${port} is taken. Set PORT to another one.`)
copyStyle(process.cwd())
const around = await startSurroundings(port, process.env.BASE_PATH ?? '/auth')
around.mailbox.onMail(({ to, subject, text }) => console.log(`\nMail to ${to}: ${subject}\n${text.trim()}\n`))
console.log(`\n  Open      http://localhost:${port}\n  Provider  ${around.op.issuer}\n`)

const code = await runGroup(
  command,
  args.map((argument) => (argument === ':port' ? String(port) : argument)),
  { env: { ...around.env, ...process.env, PORT: String(port), PATH: `node_modules/.bin:${process.env.PATH}` } },
)
await around.close()
process.exit(code)

async function freePort(first: number): Promise<number> {
  for (let candidate = first; candidate < first + 20; candidate++) if (await isFree(candidate)) return candidate
  throw new Error(`Ports ${first} to ${first + 19} are taken. Set PORT to a free one.`)
}

function isFree(candidate: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(candidate, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
