/** A feed of revocations: every process refuses an ended token within a bound that holds on any number of servers and in several regions. */
import { lazily, type Plugin, type Revocations } from 'authkernel/kernel'
import { RevocationsUnknown } from './errors.ts'
import type { Feed } from './feed.ts'
import { type RevocationFeedOptions, resolveOptions } from './options.ts'
import { entryName, entryRecord, headName, headRecord } from './tables.ts'

export { RevocationsUnknown } from './errors.ts'
export type { RevocationFeedOptions } from './options.ts'

// Loaded by the first use of a token.
const load = /* @__PURE__ */ lazily(() => import('./feed.ts'))

/**
 * Keeps the revocations of jwtSessionPlugin in a feed without gaps. A token is accepted only if the feed of its home was read to its end at most
 * `staleness` seconds ago. Needs the service `records` and `session.revocable: true`. Throws AuthError for options of the wrong shape.
 */
export function revocationFeedPlugin(options: RevocationFeedOptions = {}): Plugin {
  const resolved = resolveOptions(options)
  return {
    name: 'revocation-feed',
    requires: ['records', 'session:revoke:user'],
    setup(kernel) {
      kernel.records(headName, headRecord)
      kernel.records(entryName, entryRecord)
      kernel.preload(async () => load())
      kernel.decorate('revocations', (list: Revocations, view) => {
        const records = view.service('records')
        if (!records) return {}
        const freshness = view.service('sessionFreshness')?.seconds ?? 10
        const feeds = view.shared.cache<Feed>('revocation-feed')
        const open = async (): Promise<Feed> => {
          const known = feeds.get('feed')
          if (known) return known
          const { openFeed } = await load()
          const feed = feeds.get('feed') ?? openFeed(kernel, resolved, records, freshness)
          feeds.set('feed', feed)
          return feed
        }
        const opened = (): Feed | undefined => feeds.get('feed')
        const over: Partial<Revocations> = {
          former: list,
          get entries() {
            return opened()?.entries ?? new Map()
          },
          get complete() {
            return opened()?.complete !== false && list.complete
          },
          get freshUntil() {
            return Math.min(opened()?.freshUntil ?? -Infinity, list.freshUntil)
          },
          get renewAt() {
            return Math.min(opened()?.renewAt ?? -Infinity, list.renewAt)
          },
          place: () => opened()?.place(),
          reaches: (revocation, session) => opened()?.reaches(revocation, session) ?? true,
          async sync(place) {
            await Promise.all([list.sync(), open().then((feed) => feed.sync(place))])
          },
          async follow(place) {
            const feed = await open()
            if (kernel.runtime.now() >= list.freshUntil) await readList(list)
            else if (kernel.runtime.now() >= list.renewAt) list.sync().catch(() => {})
            await feed.follow(place)
          },
          ended: async (key, place) => (await (await open()).ended(key, place)) || (!list.complete && (await list.ended(key))),
          async revoke(ctx, revocations, seconds) {
            await (await open()).revoke(ctx, revocations, seconds)
            if (resolved.alsoList) await list.revoke(ctx, revocations, seconds)
          },
        }
        return over
      })
    },
  }
}

async function readList(list: Revocations): Promise<void> {
  try {
    await list.sync()
  } catch (error) {
    throw new RevocationsUnknown('The list of revocations of jwtSessionPlugin could not be read.', error)
  }
}
