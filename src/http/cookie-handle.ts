/** Cookies of plugins: names, attributes, seals and lists as the own ones have them. */
import type { CookieHandle, CookieSpec, PendingEntry, PendingList, PendingSpec } from '../contract/cookie.ts'
import type { Context } from '../contract/context.ts'
import type { CookieOption } from '../contract/data.ts'
import { AuthError } from '../errors/index.ts'

// A cookie of 4096 bytes less its name and attributes.
const maxList = 3_800

/** A cookie of a plugin, for modules that need it outside of `setup`: register it with `kernel.cookie`. */
export function createCookie(name: string, spec: CookieSpec = {}): CookieHandle {
  const full = Object.freeze({ ...spec, name, key: spec.key ?? name })
  const findOption = (ctx: Context): CookieOption => {
    const cookie = (ctx.cookies as Record<string, CookieOption | undefined>)[full.key]
    if (!cookie) throw new AuthError(`The cookie "${name}" is not registered: call kernel.cookie in the plugin's setup.`)
    return cookie
  }
  const optionsOf = (ctx: Context): CookieOption['options'] => {
    const { name: prefixed, options } = findOption(ctx)
    return spec.path === 'base' && !prefixed.startsWith('__Host-') ? { ...options, path: ctx.basePath } : options
  }
  const get = (ctx: Context): string | undefined =>
    spec.chunked ? ctx.chunkedCookie(findOption(ctx).name) : ctx.cookie(findOption(ctx).name)
  return {
    spec: full,
    name: (ctx) => findOption(ctx).name,
    get,
    set(ctx, value, { survivesFailure = false, ...more } = {}) {
      const options = { ...optionsOf(ctx), ...more }
      if (spec.chunked) ctx.setChunkedCookie(findOption(ctx).name, value, options)
      else ctx.setCookie(findOption(ctx).name, value, options, survivesFailure ? 'always' : undefined)
    },
    delete: (ctx) => ctx.deleteCookie(findOption(ctx).name, optionsOf(ctx)),
    seal: (ctx, payload, seconds) => ctx.seal(findOption(ctx).name, payload, seconds),
    async open<T extends object>(ctx: Context) {
      const value = get(ctx)
      return value ? ctx.open<T>(findOption(ctx).name, value) : null
    },
  }
}

/** A list of what a browser has under way. The cookie must be registered with `kernel.cookie`, or the list with `kernel.pending`. */
export function createPending<E extends object>(
  name: string,
  { seconds, max = 5, cookie = {}, crossSite }: PendingSpec<E>,
): PendingList<E> {
  const handle = createCookie(name, { maxAge: seconds, ...cookie })
  const now = (ctx: Context): number => Math.floor(ctx.runtime.now() / 1000)

  // Finding an entry and dropping it open the same value.
  const opened = new WeakMap<Context, { value: string; list: readonly PendingEntry<E>[] }>()

  async function all(ctx: Context): Promise<PendingEntry<E>[]> {
    const value = handle.get(ctx)
    if (!value) return []
    let known = opened.get(ctx)
    if (known?.value !== value) {
      const list = (await handle.open<{ list?: PendingEntry<E>[] }>(ctx))?.list
      opened.set(ctx, (known = { value, list: Array.isArray(list) ? list : [] }))
    }
    return known.list.filter(({ until }) => until > now(ctx))
  }
  async function write(ctx: Context, entries: readonly PendingEntry<E>[], survivesFailure: boolean): Promise<void> {
    let kept = entries.slice(0, max)
    if (kept.length === 0) return handle.delete(ctx)
    let sealed = await handle.seal(ctx, { list: kept }, seconds)
    while (kept.length > 1 && encodeURIComponent(sealed).length > maxList) {
      kept = kept.slice(0, -1)
      sealed = await handle.seal(ctx, { list: kept }, seconds)
    }
    // Lax cookies stay at home when another site posts.
    const foreign = crossSite && kept.some((entry) => crossSite(entry)) ? ({ sameSite: 'none', secure: true } as const) : {}
    handle.set(ctx, sealed, { ...foreign, expires: new Date(ctx.runtime.now() + seconds * 1000), survivesFailure })
  }
  async function drop(ctx: Context, ids: readonly string[]): Promise<void> {
    const before = await all(ctx)
    const after = before.filter(({ id }) => !ids.includes(id))
    if (after.length < before.length || after.length === 0) await write(ctx, after, true)
  }
  return {
    cookie: handle,
    all,
    drop,
    add: async (ctx, id, entry) => write(ctx, [{ ...entry, id, until: now(ctx) + seconds }, ...(await all(ctx))], false),
    async take(ctx, id) {
      const found = (await all(ctx)).find((entry) => entry.id === id)
      await drop(ctx, [id])
      // The cookie is the browser's to keep: only the server can know that an entry was used before.
      return found && (await ctx.once.take(`${name} ${id}`, seconds)) ? found : null
    },
  }
}
