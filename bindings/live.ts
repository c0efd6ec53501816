/** WebSockets and Server-Sent Events that end with the session: `const live = await auth.live.open(request)`. */
import { assertOptions, type HandleOptions, HttpError, type Kernel, type Plugin, setHostRequest } from 'authkernel/kernel'
import { type Live, type LiveRules, watchSession } from './_live/watch.ts'
import { toEventStream } from './_live/event-stream.ts'
import { rejectUpgrade, type SocketLike, tieSocket, type UpgradeSocket } from './_live/socket.ts'
import { assertGuard, createRefusal, type GuardOptions, readForGuard, runCheck } from './_shared/actions.ts'
import { addressFrom } from './_shared/edge.ts'
import { assertArgument } from './_shared/web-api.ts'
import type { NodeRequest } from './_shared/node-request.ts'

export type { SocketLike, UpgradeSocket } from './_live/socket.ts'
export type { Live, LiveReason } from './_live/watch.ts'

/** Options of the binding. */
export interface LiveOptions {
  /** Seconds between two readings of the session; default 5. A connection ends at most that long after the session, plus the time of a reading. */
  every?: number | undefined
  /** Seconds without an answer of the store, after which a connection ends; default 30. */
  staleAfter?: number | undefined
  /** Other origins whose pages may connect. The own origin may. */
  origins?: readonly string[] | undefined
}
/** What `auth.live` offers. */
export interface LiveApi {
  /**
   * The connection of a request: a web `Request` or the one of Node. A `Response` is the rejection: no session, or a page of another origin. `info` is the runtime's
   * second argument: Bun's server, Deno's info.
   */
  open(request: Request | NodeRequest, options?: Pick<GuardOptions, 'check'> & { info?: unknown }): Promise<Live | Response>
  /** Closes the socket with 4401 when the session ends, and stops the readings when the socket closes. Sockets of `ws`, Deno, workers; on Bun, call `live.stop()` in `close`. */
  tie(live: Live, socket: SocketLike): void
  /** Server-Sent Events: what `source` gives, until the session ends. The last event is `session-end`. */
  events(live: Live, source: ReadableStream<Uint8Array | string>): Response
  /** Answers an upgrade of Node with a rejection. */
  reject(socket: UpgradeSocket, response: Response): Promise<void>
}

/**
 * Puts `live` on `auth`.
 * @experimental The API may change in a minor version.
 */
export function liveBinding(options: LiveOptions = {}): Plugin<{ live: LiveApi }> {
  assertOptions('liveBinding', options, { every: true, staleAfter: true, origins: true })
  const rules = rulesOf(options)
  return { name: 'live', setup: (kernel) => ({ live: liveApi(kernel, rules, options.origins ?? []) }) }
}

function rulesOf({ every = 5, staleAfter = Math.max(30, every * 2) }: LiveOptions): LiveRules {
  if (!(every > 0)) throw new TypeError(`liveBinding: \`every\` is a number of seconds above 0, not ${every}.`)
  if (!(staleAfter >= every)) throw new TypeError(`liveBinding: \`staleAfter\` (${staleAfter}) is at least \`every\` (${every}).`)
  return { every: every * 1000, staleAfter: staleAfter * 1000 }
}

function liveApi(kernel: Kernel, rules: LiveRules, origins: readonly string[]): LiveApi {
  return {
    async open(given, { info, ...guard } = {}) {
      assertGuard(guard)
      const request = await toWebRequest(given)
      const options: HandleOptions = { clientAddress: addressFrom(info ?? { incoming: given }, request) }
      // Browsers send cookies along whatever page opens a WebSocket, and no CORS holds it back.
      if (!(await isAllowedOrigin(kernel, request, options, origins))) {
        return Response.json({ error: 'Forbidden' }, { status: 403, headers: { 'Cache-Control': 'private, no-store' } })
      }
      const found = await readForGuard(kernel.entryPoints.session(request, options))
      if (found instanceof HttpError || !found?.user) return createRefusal(kernel, copyForProgram(request), options, {}, found)
      const rejection = await runCheck(() => copyForProgram(request), found, guard)
      return rejection ?? watchSession(found, () => kernel.entryPoints.session(copyForProgram(request), options), rules, kernel.runtime)
    },
    tie: tieSocket,
    events: toEventStream,
    reject: rejectUpgrade,
  }
}

async function toWebRequest(given: Request | NodeRequest): Promise<Request> {
  assertArgument(given, { has: ['headers', 'url'], say: "live binding: give the Request, or Node's request: `auth.live.open(request)`." })
  if (given.headers instanceof Headers) return given as Request
  const { toRequest } = await import('./_shared/node-request.ts')
  return toRequest(given as NodeRequest)
}

/** Programs send no Origin header. */
async function isAllowedOrigin(kernel: Kernel, request: Request, options: HandleOptions, origins: readonly string[]): Promise<boolean> {
  const origin = request.headers.get('origin')
  return origin === null || origins.includes(origin) || origin === (await kernel.contextOf(request, options)).origin
}

/** A connection follows no redirect to a sign-in page. */
function copyForProgram(request: Request): Request {
  const headers = new Headers(request.headers)
  headers.set('accept', 'application/json')
  return setHostRequest(new Request(request.url, { headers }), request)
}
