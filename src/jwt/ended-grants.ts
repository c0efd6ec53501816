/** The list of ended grants that an authorization server publishes: JWTs of such a grant count no more, though they are not over. */

interface EndedGrants {
  grants: ReadonlySet<string>
  /** Milliseconds since the epoch. */
  until: number
}

/** Milliseconds that a list counts. */
const lifetime = 30_000
const maxLists = 100
const sharedLists = new Map<string, EndedGrants>()
const ownLists = new WeakMap<typeof fetch, Map<string, EndedGrants>>()

/** Whether a grant ended. Throws where the list cannot be read: then nothing is known of the grant. */
export async function isEndedGrant(url: URL, grant: string, now: number, given: typeof fetch | undefined): Promise<boolean> {
  // A `fetch` of one's own may lead elsewhere: its lists are not for others.
  let lists = given ? ownLists.get(given) : sharedLists
  if (!lists && given) ownLists.set(given, (lists = new Map()))
  const known = lists?.get(url.href)
  const list = known && known.until > now && known.until <= now + lifetime ? known : await readList(url, now, given)
  if (lists && !lists.has(url.href) && lists.size >= maxLists) lists.clear()
  lists?.set(url.href, list)
  return list.grants.has(grant)
}

async function readList(url: URL, now: number, given: typeof fetch = fetch): Promise<EndedGrants> {
  const response = await given(url, { headers: { accept: 'application/json' }, redirect: 'error', signal: AbortSignal.timeout(5_000) })
  const { grants } = (await response.json()) as { grants?: unknown }
  if (!response.ok || !Array.isArray(grants)) throw new TypeError(`${url.href} is no list of ended grants.`)
  return { grants: new Set(grants as string[]), until: now + lifetime }
}
