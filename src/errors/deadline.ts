/** Waiting for work that can be stopped. */

/**
 * `withTimeout` for work that can be stopped: it gets a signal that is aborted when the time is over or one of `outer` is.
 * The race decides, because work that ignores its signal must not hold anybody; the signal only frees what it holds.
 */
export function withDeadline<T>(
  milliseconds: number,
  outer: readonly AbortSignal[],
  work: (signal: AbortSignal) => Promise<T>,
  late: (givenUp: boolean) => Error,
): Promise<T> {
  const controller = new AbortController()
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer)
      for (const signal of outer) signal.removeEventListener('abort', givenUp)
    }
    const stop = (error: Error): void => {
      end()
      reject(error)
      controller.abort(error)
    }
    const givenUp = (): void => stop(late(true))
    const timer = setTimeout(() => stop(late(false)), milliseconds)
    for (const signal of outer) signal.addEventListener('abort', givenUp, { once: true })
    if (outer.some(({ aborted }) => aborted)) givenUp()
    work(controller.signal).then(
      (value) => {
        end()
        resolve(value)
      },
      (error: unknown) => {
        end()
        reject(error)
      },
    )
  })
}
