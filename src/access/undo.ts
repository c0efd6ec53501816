/** Takes back what was written after access had ended, though the store fails for a moment. */
import type { AccessPurpose, StampOfAccess } from '../contract/access.ts'
import type { AnyContext } from '../contract/context.ts'
import { AuthError } from '../errors/index.ts'

// Milliseconds before the next try.
const pauses = [50, 200, 800]

/**
 * Calls `undo` until it succeeds, four times at most and not after the end of the request. What is left then is logged, and nothing is thrown: the caller reports that access ended. What was left gives no access. The token of a session, of an app or of a key did not leave the server. Codes and approvals are compared with their stamp at each use.
 */
export async function undoGrant(ctx: AnyContext, { subject }: StampOfAccess, by: AccessPurpose, undo: () => unknown): Promise<void> {
  let failure: unknown
  for (const pause of [0, ...pauses]) {
    if (pause > 0 && !(await hasWaited(ctx.signal, pause))) break
    try {
      await undo()
      return
    } catch (error) {
      failure = error
    }
  }
  const err = failure instanceof Error ? failure : new Error(String(failure))
  const text = `Access of ${subject} ended while the server gave it (${by}), and the store did not remove what was written. Look for a row of that moment, and delete it.`
  ctx.logger.error(new AuthError(text, { cause: { err, by, subject } }))
}

/** False: the request has ended. */
function hasWaited(signal: AbortSignal, milliseconds: number): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false)
  return new Promise((resolve) => {
    const stop = (): void => {
      clearTimeout(timer)
      resolve(false)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve(true)
    }, milliseconds)
    signal.addEventListener('abort', stop, { once: true })
  })
}
