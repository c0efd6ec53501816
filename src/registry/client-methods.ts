/** Routes of a plugin that are methods of the client: one declaration makes both. */
import type { AnyClientMethod, ClientMethod, ClientMethods, ClientPart, InputOf } from '../contract/client.ts'
import type { Context } from '../contract/context.ts'
import type { Awaitable } from '../contract/data.ts'
import type { Kernel } from '../contract/plugin.ts'
import type { Route } from '../contract/route.ts'
import { CrossSiteRequest } from '../errors/kernel-errors.ts'
import { AuthError, CredentialsSignin, rowOf, visibleType } from '../errors/index.ts'
import { bodyType } from '../http/body.ts'
import { json } from '../http/messages.ts'

// Functions of every client begin with a verb; a namespace is a noun. The last two are read by the language itself.
const takenNames = /^(?:(?:get|create|register|sign)[A-Z].*|update|then|constructor)$/
// The client goes by the same rule.
const reads = /^(?:get|list|is|has)(?![a-z])/

/** A method without input: `clientMethod(async (ctx) => …)`. */
export function clientMethod<O>(handler: (ctx: Context) => Awaitable<O>): ClientMethod<void, O>
/**
 * A method whose input is checked: `clientMethod(schema, async (ctx, input) => …)`. What the check rejects gets status 400 `InvalidInput`.
 * `form` handles a form that is posted to the path of the method. Without it a form gets status 415.
 */
export function clientMethod<I extends object, O>(
  input: InputOf<I>,
  handler: (ctx: Context, input: I) => Awaitable<O>,
  form?: (ctx: Context) => Awaitable<Response>,
): ClientMethod<I, O>
export function clientMethod(first: unknown, second?: unknown, form?: unknown): AnyClientMethod {
  return (second === undefined ? { handler: first } : { input: first, handler: second, form }) as AnyClientMethod
}

/** An input of `clientMethod` that is any JSON object: its members, to be checked by the handler. */
export function readFields(sent: unknown): Record<string, unknown> {
  if (typeof sent !== 'object' || sent === null) throw new TypeError('an object')
  return { ...sent }
}

/**
 * Registers `client.<namespace>.<method>()` of `createAuthClient`: `POST <basePath>/<namespace>/<method>` in kebab-case with JSON, or GET when the name
 * begins with `get`, `list`, `is` or `has`. A POST needs the CSRF token. Return what this returns from `setup`, so that `typeof auth` knows the methods.
 * What a handler answers is sent as JSON (nothing: null), a `Response` as it is. Throws AuthError for a name that the client could not have.
 */
export function clientMethods<const N extends string, M extends Readonly<Record<string, AnyClientMethod>>>(
  kernel: Kernel,
  namespace: N,
  methods: M,
): ClientPart<{ readonly [K in N]: ClientMethods<M> }> {
  if (takenNames.test(namespace))
    throw new AuthError(`clientMethods: "${namespace}" is a function of every client, or named like one; choose a noun as the namespace.`)
  for (const [name, method] of Object.entries(methods)) {
    for (const one of [namespace, name]) {
      if (!/^[a-z][a-zA-Z\d]*$/.test(one))
        throw new AuthError(`clientMethods: "${one}" (of ${namespace}) must be letters and digits, in camel case.`)
    }
    kernel.route(createMethodRoute(namespace, name, method))
  }
  return {}
}

/** The route of one method, for a plugin that loads its methods with the first request for one. `clientMethods` makes the same. */
export function createMethodRoute(namespace: string, name: string, { input, handler, form, takes }: AnyClientMethod): Route {
  const path: Route['path'] = `/${toKebabCase(namespace)}/${toKebabCase(name)}`
  const isRead = reads.test(name)
  const isForm = (ctx: Context): boolean => form !== undefined && bodyType(ctx.request) !== 'json'
  return {
    method: isRead ? 'GET' : 'POST',
    path,
    client: `${namespace}.${name}`,
    ...(takes && { takes }),
    ...(!isRead && !form && { body: { types: ['json'] } }),
    async handler(ctx) {
      if (form && isForm(ctx)) return form(ctx)
      const checked = input && (await checkInput(input as InputOf<unknown>, await sentBy(ctx, isRead)))
      if (checked && 'issues' in checked) return json({ error: 'InvalidInput', issues: checked.issues }, 400)
      // Of the type that `input` checked.
      const answer = await handler(ctx, checked?.value as never)
      return answer instanceof Response ? answer : json(answer ?? null)
    },
    failure(ctx, error) {
      if (isForm(ctx)) return undefined
      // These two the kernel words itself, with their headers.
      if (error instanceof CrossSiteRequest || typeof error.cause?.['retryAfter'] === 'number') return undefined
      const code = error instanceof CredentialsSignin ? error.code : undefined
      return json({ error: visibleType(error), ...(code !== undefined && { code }) }, rowOf(error).status)
    },
  }
}

async function sentBy(ctx: Context, isRead: boolean): Promise<unknown> {
  if (!isRead) {
    const { csrfToken: _token, ...sent } = await ctx.body()
    return sent
  }
  const text = ctx.url.searchParams.get('input')
  try {
    return text === null ? {} : (JSON.parse(text) as unknown)
  } catch {
    return undefined
  }
}

async function checkInput(input: InputOf<unknown>, sent: unknown): Promise<{ value: unknown } | { issues: readonly object[] }> {
  if (typeof input !== 'function' || '~standard' in input) {
    const result = await (input as Exclude<typeof input, (sent: unknown) => unknown>)['~standard'].validate(sent)
    return result.issues ? { issues: result.issues } : { value: result.value }
  }
  try {
    return { value: await input(sent) }
  } catch {
    return { issues: [] }
  }
}

function toKebabCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}
