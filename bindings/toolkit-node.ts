/** For authors of bindings: the parts that ours are made of, for frameworks on Node's own requests (`docs/writing-a-binding.md`). */
export type { Argument } from './_argument.ts'
export type { GuardOptions, SignInOptions } from './_actions.ts'
export { createApi, type Api, type Seam } from './_api.ts'
export { answered, appendCookies, type NodeRequest, type NodeResponse, peerAddress, sendResponse, toRequest, toStream } from './_node.ts'
export { type Edge, forwardedHost } from './_target.ts'
