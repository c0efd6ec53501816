/** When a session that is shown should be read again: the tab comes to the front, the address changes, the last answer is old or has expired. */
import type { Session } from 'authkernel'

/** When a session is read again, beside sign-ins, sign-outs and updates of this client, and the end of the session. */
export interface RereadOptions {
  /** Reads again when the tab gets the focus; default true. */
  refetchOnFocus?: boolean | undefined
  /**
   * Reads again when the address changes without a page load, which is what follows a sign-in or sign-out by an action of the server; default true.
   * Needs the Navigation API (Chromium 102, Safari 26.2, Firefox 147).
   */
  refetchOnNavigation?: boolean | undefined
  /** Reads again when the last answer is older, in seconds, while the tab is visible; default: never, since each read keeps an idle session alive. */
  refetchAfter?: number | undefined
}

// setTimeout takes 31 bits.
const longest = 2 ** 31 - 1

/** Calls `read` until `stop`. `due` receives every answer. */
export function watchTab(options: RereadOptions, read: () => unknown): { due(session: Session | null): void; stop(): void } {
  const { refetchOnFocus = true, refetchOnNavigation = true, refetchAfter = Infinity } = options
  const controller = new AbortController()
  const { signal } = controller
  let timer: ReturnType<typeof setTimeout> | undefined
  let overdue = false

  const visible = (): boolean => document.visibilityState === 'visible'
  const onShow = (): void => {
    if (visible() && (refetchOnFocus || overdue)) read()
  }
  addEventListener('focus', onShow, { signal })
  document.addEventListener('visibilitychange', onShow, { signal })
  // From the cache of the browser a page comes back as it was left.
  addEventListener('pageshow', ({ persisted }) => persisted && read(), { signal })
  if (refetchOnNavigation) onNavigation(read, signal)

  return {
    due(session) {
      clearTimeout(timer)
      overdue = false
      // One second more: the server ends it on the second.
      const left = session ? Date.parse(session.expires) - Date.now() + 1000 : Infinity
      const wait = Math.min(left > 0 ? left : Infinity, refetchAfter * 1000)
      if (!(wait <= longest)) return
      timer = setTimeout(() => {
        overdue = true
        if (visible()) read()
      }, wait)
    },
    stop() {
      clearTimeout(timer)
      controller.abort()
    },
  }
}

/** Part of the Navigation API (HTML, section 7.2.6) that no version of TypeScript's DOM library has in all its parts. */
interface Navigation extends EventTarget {
  readonly currentEntry: { readonly url: string | null } | null
}

function onNavigation(read: () => unknown, signal: AbortSignal): void {
  const { navigation } = globalThis as { navigation?: Navigation }
  const address = (): string | undefined => navigation?.currentEntry?.url?.split('#')[0]
  let last = address()
  navigation?.addEventListener(
    'currententrychange',
    (event) => {
      // Frameworks replace the state of an entry for their own purposes, and a fragment asks nothing of the server.
      const replaced = (event as Event & { navigationType?: string | null }).navigationType === 'replace'
      const next = address()
      if (next === last && replaced) return
      const fragment = next === last && location.hash !== ''
      last = next
      if (!fragment) read()
    },
    { signal },
  )
}
