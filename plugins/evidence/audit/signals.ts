/** Signals that end the process: SIGTERM and SIGINT. */
import type { Kernel } from 'authkernel/kernel'
import type { Log } from './log.ts'

/** Writes what waits, then lets the signal do what it would have done. Returns the function that stops it. */
export function writeOnSignals(kernel: Kernel, log: Log): () => void {
  return onSignals(() => flushOnSignal(kernel, log))
}

/** A record of how much waited, and all that waits. */
async function flushOnSignal(kernel: Kernel, log: Log): Promise<void> {
  const { waiting: count } = log.state()
  const ctx = await kernel.contextOf({ job: 'audit', tenant: null })
  await log.note(ctx, { name: 'audit.flushed', outcome: 'success', actor: { type: 'system' }, target: { count } })
  await log.flush()
}

function onSignals(flush: () => Promise<void>): () => void {
  const signals = ['SIGTERM', 'SIGINT'] as const
  const undo = (): void => signals.forEach((signal) => process.removeListener(signal, handle))
  const handle = (signal: NodeJS.Signals): void => {
    undo()
    void flush()
      .catch(() => {})
      // With other listeners the process ends, or does not, as they decide.
      .finally(() => process.listenerCount(signal) === 0 && process.kill(process.pid, signal))
  }
  signals.forEach((signal) => process.on(signal, handle))
  return undo
}
