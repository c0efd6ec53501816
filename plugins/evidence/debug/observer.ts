/** Requests, hooks, calls to other servers and failures. */
import { AuthError, type Context, type Observer } from 'authkernel/kernel'
import { answerOf, describeNames, describePath, urlOf } from './describe.ts'
import { errorName, timeSince, type Trace } from './trace.ts'

export function createObserver(trace: Trace): Required<Observer> {
  return {
    request(ctx, work) {
      const { method, url } = ctx.request
      const started = performance.now()
      return trace.within(ctx, async () => {
        trace.line(`${method} ${describePath(new URL(url).pathname)}${cookiesOf(ctx.request)}`, ctx)
        try {
          const response = await work()
          trace.line(`${response.status}${routeOf(ctx)}${effectsOf(response)} (${timeSince(started)})`, ctx)
          return response
        } catch (error) {
          trace.line(`${errorName(error)} is thrown to the caller${routeOf(ctx)} (${timeSince(started)})`, ctx)
          throw error
        }
      })
    },
    handler: ({ name, plugin, ctx }, work) => trace.timeWork(`hook ${name}, ${plugin}`, work, answerOf, ctx),
    hook: ({ kind, name, ctx }, work) => (kind === 'hook' ? work() : trace.timeWork(`event ${name}`, work, undefined, ctx)),
    fetch(input, init, send) {
      const { href } = new URL(input instanceof Request ? input.url : input)
      const method = init?.method ?? (input instanceof Request ? input.method : 'GET')
      return trace.timeWork(
        `${method} ${urlOf(href)}`,
        () => send(input, init),
        ({ status }) => String(status),
      )
    },
    log(entry) {
      trace.line('error' in entry ? `why: ${errorReason(entry.error)}` : `warning: ${entry.code}`)
    },
  }
}

/** Names of the cookies that a request has. */
export function cookiesOf({ headers }: Request): string {
  const names = (headers.get('cookie') ?? '')
    .split(';')
    .flatMap((pair) => (pair.includes('=') ? [pair.slice(0, pair.indexOf('=')).trim()] : []))
  return names.length > 0 ? `, cookies ${describeNames(names)}` : ', no cookies'
}

/** The route that answered, whose it is, and the provider if it is known. */
function routeOf(ctx: Context): string {
  const { route, params } = ctx
  if (!route) return ' without a route'
  const { provider } = params
  const known = provider !== undefined && ctx.peekProvider(provider) !== undefined
  return ` by ${route.method} ${route.path} of ${route.plugin}${known ? `, provider ${provider}` : ''}`
}

function effectsOf({ headers }: Response): string {
  const lines = headers.getSetCookie()
  const nameIn = (line: string): string => line.slice(0, line.indexOf('='))
  const deleted = lines.filter((line) => /;\s*max-age=0(?:;|$)/i.test(line)).map(nameIn)
  const set = lines.map(nameIn).filter((name) => !deleted.includes(name))
  const location = headers.get('location')
  return [
    location === null ? '' : `, leads to ${urlOf(location)}`,
    set.length > 0 ? `, sets ${describeNames(set)}` : '',
    deleted.length > 0 ? `, deletes ${describeNames(deleted)}` : '',
  ].join('')
}

// A message that was taken from another error may quote values.
function errorReason(error: Error): string {
  const cause = error instanceof AuthError ? error.cause?.err : undefined
  const from = cause instanceof Error ? `, caused by ${errorName(cause)}` : ''
  const own = error instanceof AuthError && !(cause instanceof Error && error.message.includes(cause.message))
  return `${errorName(error)}${own ? `: ${error.message.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').slice(0, 500)}` : ''}${from}`
}
