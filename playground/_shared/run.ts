/**
 * Runs a framework's own command among its surroundings: `node ../../scripts/dev.mjs ../_shared/run.ts vite dev`.
 * Mails are printed. BASE_PATH says where the app has its routes (default /auth), PORT where it listens (default 5173).
 */
import { spawn } from 'node:child_process'
import { startSurroundings } from './surroundings.ts'

const [command, ...args] = process.argv.slice(2)
if (!command) throw new Error('Usage: run.ts <command> [arguments]')
const port = Number(process.env.PORT ?? 5173)
const around = await startSurroundings(port, process.env.BASE_PATH ?? '/auth')
around.mailbox.onMail(({ to, subject, text }) => console.log(`\nMail to ${to}: ${subject}\n${text.trim()}\n`))
console.log(`\n  Open      http://localhost:${port}\n  Provider  ${around.op.issuer}\n`)

const app = spawn(command, args, {
  stdio: 'inherit',
  env: { ...around.env, ...process.env, PATH: `node_modules/.bin:${process.env.PATH}` },
})
app.once('exit', (code) => void around.close().then(() => process.exit(code ?? 0)))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => app.kill(signal))
