/** The logger of a kernel, with observers before it. */
import type { LoggerInstance } from '../contract/data.ts'
import type { Observer } from '../contract/observer.ts'

/** Tells errors and warnings to the observers that there are at the moment, then to the logger. */
export function heardLogger(logger: LoggerInstance, observers: () => readonly Observer[]): LoggerInstance {
  const tell: NonNullable<Observer['log']> = (entry) => observers().forEach(({ log }) => log?.(entry))
  return {
    ...logger,
    error: (error) => {
      tell({ error })
      logger.error(error)
    },
    warn: (code, details) => {
      tell({ code })
      logger.warn(code, details)
    },
  }
}
