/** Events of AWS Lambda as web requests, and web responses as its results: payload versions 1.0 and 2.0, and those of load balancers. */
import { publicUrl } from './_shared/edge.ts'

/** The parts of an event that are used here, of every version. */
export interface LambdaEvent {
  version?: string | undefined
  /** 2.0 */
  rawPath?: string | undefined
  rawQueryString?: string | undefined
  cookies?: readonly string[] | undefined
  /** 1.0 and load balancers. */
  path?: string | undefined
  httpMethod?: string | undefined
  headers?: Readonly<Record<string, string | undefined>> | null | undefined
  multiValueHeaders?: Readonly<Record<string, readonly string[] | undefined>> | null | undefined
  queryStringParameters?: Readonly<Record<string, string | undefined>> | null | undefined
  multiValueQueryStringParameters?: Readonly<Record<string, readonly string[] | undefined>> | null | undefined
  body?: string | null | undefined
  isBase64Encoded?: boolean | undefined
  requestContext: {
    domainName?: string | undefined
    /** 1.0: with the stage, as the browser sees it. */
    path?: string | undefined
    http?: { method: string; sourceIp?: string | undefined } | undefined
    identity?: { sourceIp?: string | undefined } | undefined
    /** Of a load balancer. */
    elb?: object | undefined
  }
}
/** A result of every version. */
export interface LambdaResult {
  statusCode: number
  statusDescription?: string
  headers?: Record<string, string>
  multiValueHeaders?: Record<string, string[]>
  cookies?: string[]
  body: string
  isBase64Encoded: boolean
}

/** The event as its browser sent it. Throws HttpError 400 for a host that is none. */
export function toRequest(event: LambdaEvent): Request {
  const headers = headersOf(event)
  const path = event.requestContext.path ?? event.rawPath ?? event.path ?? '/'
  const query = queryOf(event)
  const target = {
    url: query === '' ? path : `${path}?${query}`,
    headers: { host: headers.get('host') ?? event.requestContext.domainName },
    socket: {},
  }
  const method = event.requestContext.http?.method ?? event.httpMethod ?? 'GET'
  const hasBody = method !== 'GET' && method !== 'HEAD' && typeof event.body === 'string'
  return new Request(publicUrl(target, { protocol: headers.get('x-forwarded-proto') ?? 'https' }), {
    method,
    headers,
    body: hasBody ? bodyOf(event) : null,
  })
}

/** The response in the form that the sender of the event understands. */
export async function toResult(event: LambdaEvent, response: Response): Promise<LambdaResult> {
  const type = response.headers.get('content-type') ?? ''
  const isText =
    type === '' || /^(?:text\/|application\/(?:[\w.+-]+\+)?(?:json|xml|javascript|jwt)|application\/x-www-form-urlencoded)/i.test(type)
  const bytes = new Uint8Array(await response.arrayBuffer())
  const body = isText ? new TextDecoder().decode(bytes) : toBase64(bytes)
  const cookies = response.headers.getSetCookie()
  const headers = Object.fromEntries([...response.headers].filter(([name]) => name !== 'set-cookie'))
  const result: LambdaResult = { statusCode: response.status, body, isBase64Encoded: !isText }
  if (event.requestContext.elb) result.statusDescription = `${response.status} ${response.statusText}`.trim()
  if (event.version === '2.0') return { ...result, headers, cookies }
  if (!event.requestContext.elb) return { ...result, headers, ...(cookies.length > 0 && { multiValueHeaders: { 'set-cookie': cookies } }) }
  if (event.multiValueHeaders) {
    const entries = Object.entries(headers).map(([name, value]) => [name, [value]] as const)
    return { ...result, multiValueHeaders: { ...Object.fromEntries(entries), ...(cookies.length > 0 && { 'set-cookie': cookies }) } }
  }
  if (cookies.length > 1)
    throw new Error(
      'The load balancer passes one Set-Cookie header of a function: switch on its target group attribute lambda.multi_value_headers.enabled.',
    )
  return { ...result, headers: { ...headers, ...(cookies[0] !== undefined && { 'set-cookie': cookies[0] }) } }
}

/** Address of the client; a load balancer adds the one it knows to the end of the list. */
export function addressOf({ requestContext, headers, multiValueHeaders }: LambdaEvent): string | undefined {
  if (!requestContext.elb) return requestContext.http?.sourceIp ?? requestContext.identity?.sourceIp
  const list = multiValueHeaders?.['x-forwarded-for']?.join() ?? headers?.['x-forwarded-for']
  return list?.split(',').at(-1)?.trim() || undefined
}

function headersOf({ headers, multiValueHeaders, cookies }: LambdaEvent): Headers {
  const found = new Headers()
  for (const [name, values] of Object.entries(multiValueHeaders ?? {})) {
    // Cookies are one list, and a comma may be in their values.
    if (name.toLowerCase() === 'cookie') found.set(name, (values ?? []).join('; '))
    else for (const value of values ?? []) found.append(name, value)
  }
  for (const [name, value] of Object.entries(headers ?? {})) if (value !== undefined && !found.has(name)) found.set(name, value)
  if (cookies && cookies.length > 0) found.set('cookie', cookies.join('; '))
  return found
}

/** API Gateway decodes parameters in version 1.0; a load balancer leaves them as they came. */
function queryOf(event: LambdaEvent): string {
  if (event.rawQueryString !== undefined) return event.rawQueryString
  const pairs = event.multiValueQueryStringParameters
    ? Object.entries(event.multiValueQueryStringParameters).flatMap(([name, values]) =>
        (values ?? []).map((value) => [name, value] as const),
      )
    : Object.entries(event.queryStringParameters ?? {}).map(([name, value]) => [name, value ?? ''] as const)
  if (event.requestContext.elb) return pairs.map(([name, value]) => `${name}=${value}`).join('&')
  return new URLSearchParams(pairs.map(([name, value]) => [name, value])).toString()
}

function bodyOf({ body, isBase64Encoded }: LambdaEvent): string | Uint8Array<ArrayBuffer> {
  if (!isBase64Encoded) return body ?? ''
  return Uint8Array.from(atob(body ?? ''), (character) => character.charCodeAt(0))
}

function toBase64(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return btoa(text)
}
