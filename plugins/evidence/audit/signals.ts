/** Signals that end the process. */

/** Writes on SIGTERM and SIGINT, then gives the signal back to whoever would have got it. */
export function onSignals(flush: () => Promise<void>): () => void {
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
