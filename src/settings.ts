/** Settings of one request: what the `settings` decision answers over the frozen ones, derived once per answer. */
import { assertSecrets } from './checks.ts'
import type { Compiled } from './compile.ts'
import { merge, secrets, trimmedBasePath } from './config.ts'
import { RequestTimeout, within } from './deadline.ts'
import { AuthError } from './errors.ts'
import type { Settings } from './messages.ts'
import { originFault } from './origin.ts'
import type { Awaitable } from './types.ts'

// By snapshot, then by answer: the same object gives the same cookies and keys.
const derived = new WeakMap<Compiled, WeakMap<object, Settings>>()

/** Throws MissingSecret or an AuthError when the answer is not usable. */
export async function resolveSettings(app: Compiled, request: Request): Promise<Settings> {
  const { request: deadline } = app.config.deadlines
  const asked = Promise.resolve(app.bus.ask('settings', { request }) as Awaitable<Partial<Settings> | undefined>)
  const answer = await within(
    asked,
    deadline,
    () => new RequestTimeout(`The settings decision did not answer within ${deadline} ms (deadlines.request).`),
  )
  if (!answer) {
    assertSecrets(app.settings.secret)
    return app.settings
  }
  let known = derived.get(app)
  if (!known) derived.set(app, (known = new WeakMap()))
  const existing = known.get(answer)
  if (existing) return existing
  const settings: Settings = Object.freeze({
    ...merge(answer, app.settings),
    ...(answer.secret && { secret: secrets(answer.secret) }),
    ...(answer.basePath && { basePath: trimmedBasePath(answer.basePath) }),
  })
  assertSecrets(settings.secret)
  const fault = originFault(settings.origin)
  if (fault) throw new AuthError(`The settings decision answered with a wrong ${fault}`)
  known.set(answer, settings)
  return settings
}
