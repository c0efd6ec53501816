/** A command and everything that it starts, as one group: npm and shells pass no signals on, and a server that is left keeps its port. */
import { spawn } from 'node:child_process'

/**
 * Runs a command until it ends, or until this process is told to end. Then the whole group gets SIGTERM, and SIGKILL 3 seconds later.
 * Answers the exit code. The command gets no keyboard: its group is not the one of the terminal.
 */
export function runGroup(
  command: string,
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<number> {
  // Windows has no groups: there the child alone is ended.
  const detached = process.platform !== 'win32'
  const child = spawn(command, args, { ...options, detached, stdio: ['ignore', 'inherit', 'inherit'] })
  const end = (signal: NodeJS.Signals): void => {
    try {
      if (detached && child.pid) process.kill(-child.pid, signal)
      else child.kill(signal)
    } catch {
      // No member is left.
    }
  }
  const stop = (): void => {
    end('SIGTERM')
    setTimeout(() => end('SIGKILL'), 3_000).unref()
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)
  process.on('exit', () => end('SIGKILL'))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? 0))
  })
}
