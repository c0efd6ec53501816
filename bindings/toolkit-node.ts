/** For authors of bindings: the parts that ours are made of, for frameworks on Node's own requests (`docs/writing-a-binding.md`). */
export type { Argument } from './_shared/web-api.ts'
export type { GuardOptions, SignInOptions } from './_shared/actions.ts'
export { createApi, type Api, type Seam } from './_shared/node-api.ts'
export {
  answerWeb,
  appendCookies,
  type NodeRequest,
  type NodeResponse,
  peerAddress,
  sendResponse,
  toRequest,
  toStream,
} from './_shared/node-request.ts'
export { type Edge, forwardedHost } from './_shared/edge.ts'
