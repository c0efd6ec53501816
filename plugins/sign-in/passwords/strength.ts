/**
 * The script that estimates how fast a new password is guessed: zxcvbn-ts with its lists of passwords and English words, in one file. The packages are
 * optional peers. It is served by this origin, so that the Content-Security-Policy stays strict, and what is typed never leaves the browser.
 */
import { type Context, lazily } from 'authkernel/kernel'

// The lists are in order of how often a word is used. These lengths keep the file below 300 KB compressed.
const passwordCount = 20_000
const wordCount = 10_000

// Without the packages there is no script.
const loadScript = /* @__PURE__ */ lazily((): Promise<{ compressed?: Uint8Array<ArrayBuffer> }> =>
  buildScript()
    .then(compress)
    .then(
      (compressed) => ({ compressed }),
      () => ({}),
    ),
)

/** `GET /passwords/strength.js`. Without the packages the file is empty (204), and the pages judge by length and variety. */
export async function answerStrength({ request }: Context): Promise<Response> {
  const { compressed } = await loadScript()
  // Not 404, which browsers report as an error of the page.
  if (!compressed) return new Response(null, { status: 204 })
  const headers = new Headers({
    'Content-Type': 'text/javascript; charset=utf-8',
    Vary: 'Accept-Encoding',
    'X-Content-Type-Options': 'nosniff',
  })
  if (/(^|[\s,])gzip([\s,;]|$)/.test(request.headers.get('accept-encoding') ?? '')) {
    headers.set('Content-Encoding', 'gzip')
    return new Response(compressed, { headers })
  }
  return new Response(new Blob([compressed]).stream().pipeThrough(new DecompressionStream('gzip')), { headers })
}

/** Throws when a package is missing. */
async function buildScript(): Promise<string> {
  const [core, common, english] = await Promise.all([readCore(), import('@zxcvbn-ts/language-common'), import('@zxcvbn-ts/language-en')])
  const dictionary = { ...shorten(common.dictionary, passwordCount), ...shorten(english.dictionary, wordCount) }
  const options = JSON.stringify({ dictionary, graphs: common.adjacencyGraphs })
  return `(function(){${core}
const judge=new zxcvbnts.core.ZxcvbnFactory(${options});
dispatchEvent(new CustomEvent('password-strength',{detail:(text)=>judge.check(text).score}))}).call({})`
}

// Of the files of the package the one for browsers has no imports.
async function readCore(): Promise<string> {
  const [{ createRequire }, { readFile }, { pathToFileURL }] = await Promise.all([
    import('node:module'),
    import('node:fs/promises'),
    import('node:url'),
  ])
  const entry = createRequire(import.meta.url).resolve('@zxcvbn-ts/core')
  const text = await readFile(new URL('zxcvbn-ts.js', pathToFileURL(entry)), 'utf8')
  return `${text.replace(/\/\/# sourceMappingURL=.*/, '')}\nconst zxcvbnts=this.zxcvbnts;`
}

function shorten(lists: Readonly<Record<string, readonly string[]>>, count: number): Record<string, readonly string[]> {
  return Object.fromEntries(Object.entries(lists).map(([name, words]) => [name, words.slice(0, count)]))
}

async function compress(script: string): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await new Response(new Blob([script]).stream().pipeThrough(new CompressionStream('gzip'))).arrayBuffer())
}
