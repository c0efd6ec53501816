/** Which web requests are the same request of the host: bindings and the kernel make a `Request` for each reading of one. */

const sources = new WeakMap<Request, object>()

/**
 * Says that `request` was made of another one: of a web request, or of the host's own object, such as Node's `IncomingMessage`. What counts once for a request, such as a
 * DPoP proof, then counts once for both. `from` must be the request that came over the network, never something that several requests share. Returns `request`.
 */
export function setHostRequest<R extends Request>(request: R, from: object): R {
  const host = hostRequestOf(from)
  if (host !== request) sources.set(request, host)
  return request
}

/** The object that stands for the request of the host: the same for all web requests that were made of it. Not marked: the request itself. */
export function hostRequestOf(request: object): object {
  return sources.get(request as Request) ?? request
}
