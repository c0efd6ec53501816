#!/usr/bin/env node
/** `npx authkernel`: makes secrets, migrates databases, and tells what is wrong with an app before its users do. */
import { runCli } from './run.ts'

process.exitCode = await runCli(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: process.stdin,
  env: process.env,
  cwd: process.cwd(),
})
// The app's module may listen, or hold connections of a database: the report is out, so nothing of it keeps the command alive.
setTimeout(() => process.exit(), 250).unref()
