/** Waiting for what others do, but not for ever (D31). */
import { AuthError } from './errors.ts'

/** Something that was waited for did not come in time. */
export class RequestTimeout extends AuthError {}

/** What `work` comes to; rejects with `late()` after so many milliseconds. What comes afterwards is nobody's unhandled rejection. */
export async function within<T>(work: PromiseLike<T>, milliseconds: number, late: () => Error): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const over = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(late()), milliseconds)
  })
  try {
    return await Promise.race([work, over])
  } finally {
    clearTimeout(timer)
  }
}
