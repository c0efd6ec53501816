/** Who asked, and when. */
import type { App } from '../contract/app.ts'
import type { Facts } from '../contract/context.ts'
import type { HandleOptions } from '../contract/handle-options.ts'
import type { Runtime } from '../contract/runtime.ts'
import type { Settings } from '../contract/settings.ts'
import { randomUUID } from '../keys/crypto.ts'

const maxUserAgent = 256

/** What is needed of a context. */
interface Source {
  readonly request: Request
  readonly options: HandleOptions
  readonly runtime: Runtime
  readonly settings: Settings
  readonly clientAddress: string | undefined
  readonly app: App
  /** Number of the moment at which the request began. */
  readonly begun: number
}

export function factsOf({ request, options, runtime, settings, clientAddress, app, begun }: Source): Facts {
  return Object.freeze({
    requestId:
      options.requestId ?? (app.config.trustProxy || options.trustForwarded ? readRequestId(request) : undefined) ?? randomUUID(runtime),
    address: clientAddress,
    userAgent: request.headers.get('user-agent')?.slice(0, maxUserAgent),
    namespace: settings.namespace,
    // When the request began: whatever asks first, and however late.
    at: Math.floor(begun / 1000),
    job: undefined,
  })
}

// What ends in logs must not be able to look like two entries.
function readRequestId({ headers }: Request): string | undefined {
  return /^[\w.:-]{1,128}$/.exec(headers.get('x-request-id') ?? '')?.[0]
}
