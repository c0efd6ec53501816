/** What a binding knows and the Request does not. Types only. */

/** What a binding passes to `handler` beside the Request: address of the client, mount path, request id. */
export interface HandleOptions {
  /** Where it is mounted (Express `req.baseUrl`); never written into config. */
  basePath?: string | undefined
  /** IP address of the client as the framework knows it, not read from headers. */
  clientAddress?: string | undefined
  /** Request id of the framework's log. Default: `x-request-id` of a trusted proxy, else random. */
  requestId?: string | undefined
  /** The framework trusts its proxy (Express `trust proxy`). */
  trustForwarded?: boolean | undefined
  /** `origin`: a same-origin Origin or Sec-Fetch-Site replaces the token (D30). */
  csrf?: 'token' | 'origin' | undefined
}
