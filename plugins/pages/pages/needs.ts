/** What is drawn on a page needs of its policy. */
import { AuthError, type Provider, type Sources } from 'authkernel/kernel'

/** Kinds of sources, as `Sources` has them and as the policy calls them. */
const sourceKinds = ['script', 'frame', 'connect', 'img', 'worker'] as const

/** What was drawn needs beyond the style and images of every page. */
export interface Needs {
  readonly sources: Readonly<Record<(typeof sourceKinds)[number], Set<string>>>
  readonly scripts: string[]
  /** A form was drawn. */
  form: boolean
  /** Providers to whose pages a form leads. */
  readonly away: Provider[]
  /** Buttons that were drawn: the first has the id that scripts of hosts know. */
  buttons: number
}

export function createNeeds(): Needs {
  const sources = {
    script: new Set<string>(),
    frame: new Set<string>(),
    connect: new Set<string>(),
    img: new Set<string>(),
    worker: new Set<string>(),
  }
  return { sources, scripts: [], form: false, away: [], buttons: 0 }
}

/** Notes what a part needs. Throws AuthError for a source that would open the policy further than to one host. */
export function note(
  { sources: known, scripts: all }: Needs,
  { sources = {}, scripts = [] }: { sources?: Sources; scripts?: readonly string[] },
  who: string,
): void {
  for (const kind of sourceKinds) {
    for (const origin of sources[kind] ?? []) {
      if (!isOrigin(origin))
        throw new AuthError(
          `${who} names the ${kind} source ${JSON.stringify(origin)}: write an https origin, like "https://challenges.example".`,
        )
      known[kind].add(origin)
    }
  }
  all.push(...scripts)
}

/** One host over https: no path, no wildcard, no keyword, nothing that could start another directive. */
function isOrigin(text: unknown): boolean {
  return typeof text === 'string' && /^https:\/\/[a-z0-9.-]+(?::\d+)?$/.test(text) && URL.canParse(text) && new URL(text).origin === text
}
