/** A route of authkernel, asked in the name of the client whose request is answered: hooks, limits and checks of that route hold. */
import type { Context, Kernel } from 'authkernel/kernel'

/** What is sent: form fields, or the JSON of a method of the client. */
export type OwnRequest =
  | { form: Readonly<Record<string, string>>; query?: Readonly<Record<string, string>> }
  | { fields: Readonly<Record<string, unknown>> }
/** What a route answered. */
export interface Outcome {
  status: number
  /** Where it leads; undefined where it leads nowhere. */
  url: URL | undefined
  /** Type of the error. */
  error: string | undefined
  /** Seconds after which another try makes sense. */
  retryAfter: number | undefined
  /** Whole Set-Cookie lines. */
  setCookies: readonly string[]
  /** Decoded values by name; '' for a cookie that is deleted. */
  cookies: ReadonlyMap<string, string>
}

// What belongs to the connection or to the other body, and what a browser says of the page: it was checked.
const droppedHeaders = [
  'content-length',
  'content-type',
  'transfer-encoding',
  'authorization',
  'expo-origin',
  'x-forwarded-host',
  'x-forwarded-proto',
]

/** Never throws for what the route rejects. */
export async function askOwnRoute(kernel: Kernel, ctx: Context, path: string, sent: OwnRequest): Promise<Outcome> {
  const headers = new Headers(ctx.request.headers)
  for (const name of [...droppedHeaders, ...[...headers.keys()].filter((one) => one.startsWith('sec-fetch-'))]) headers.delete(name)
  headers.set('origin', ctx.origin)
  headers.set('host', new URL(ctx.origin).host)
  headers.set('accept', 'application/json')
  headers.set('x-auth-return-redirect', '1')
  const url = new URL(ctx.base + path)
  if ('form' in sent) for (const [name, value] of Object.entries(sent.query ?? {})) url.searchParams.set(name, value)
  else headers.set('content-type', 'application/json')
  const body = 'form' in sent ? new URLSearchParams(sent.form) : JSON.stringify(sent.fields)
  const { clientAddress } = ctx
  const response = await kernel.entryPoints.handler(new Request(url, { method: 'POST', headers, body }), {
    basePath: ctx.basePath,
    csrf: 'origin',
    ...(clientAddress !== undefined && { clientAddress }),
  })
  return readOutcome(ctx, response)
}

async function readOutcome(ctx: Context, response: Response): Promise<Outcome> {
  const answer = await readJson(response)
  const target = typeof answer['url'] === 'string' ? answer['url'] : response.headers.get('location')
  const url = target !== null && URL.canParse(target, ctx.origin) ? new URL(target, ctx.origin) : undefined
  const own = url?.origin === ctx.origin ? url.searchParams.get('error') : null
  const error = typeof answer['error'] === 'string' ? answer['error'] : (own ?? undefined)
  const retryAfter = response.headers.get('retry-after')
  const setCookies = response.headers.getSetCookie()
  return {
    status: response.status,
    url,
    error,
    retryAfter: retryAfter === null ? undefined : Number(retryAfter),
    setCookies,
    cookies: new Map(setCookies.map(readPair)),
  }
}

async function readJson(response: Response): Promise<Record<string, unknown>> {
  if (!response.headers.get('content-type')?.includes('json')) return {}
  return Object(await response.json().catch(() => null)) as Record<string, unknown>
}

function readPair(line: string): [name: string, value: string] {
  const pair = line.slice(0, line.indexOf(';') < 0 ? undefined : line.indexOf(';'))
  const at = pair.indexOf('=')
  try {
    return [pair.slice(0, at), decodeURIComponent(pair.slice(at + 1))]
  } catch {
    return [pair.slice(0, at), pair.slice(at + 1)]
  }
}
