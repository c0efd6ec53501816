/** Address of the client as runtimes tell it. */

/** From Bun's server, Deno's info, or the `incoming` of Hono's Node server. Nothing else counts: workers pass their environment there. */
export function addressFrom(info: unknown, request: Request): string | undefined {
  if (typeof info !== 'object' || info === null) return undefined
  if ('requestIP' in info && typeof info.requestIP === 'function') return text(at(info.requestIP(request), 'address'))
  return text(at(at(info, 'remoteAddr'), 'hostname')) ?? text(at(at(at(info, 'incoming'), 'socket'), 'remoteAddress'))
}

function at(from: unknown, key: string): unknown {
  return typeof from === 'object' && from !== null ? (from as Record<string, unknown>)[key] : undefined
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
