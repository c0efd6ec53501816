/** The architecture of docs/architecture.md as a test: floors, budgets, parallel lists. What a rule refuses is named in its failure. */
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { describe, expect, it } from 'vitest'
import { cycles, type Import, list, readSources, root, type Source } from './_sources.ts'
import { pluginFiles } from '../scripts/plugins.ts'

const sources = readSources('src', 'plugins', 'bindings')
const kernelLibraries = ['hookable', 'defu', 'jose', 'rou3', 'cookie-es']
const { peerDependencies } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { peerDependencies: Record<string, string> }
const presetFiles = ['src/preset.ts', 'src/index.ts']

/** Files that need Node itself, with the reason. */
const nodeFiles: Record<string, string> = {
  'bindings/_shared/node-request.ts': 'turns IncomingMessage and ServerResponse into Request and Response',
  'plugins/adapters/unstorage/folder-lock.ts': 'locks a folder of the file system; imported on demand, when a host asks for it',
  'plugins/people/organizations/dns.ts': 'looks up TXT records; imported on demand, unless a host gives its own look-up',
  'plugins/hosting/better-auth-compat/xchacha.ts': 'decrypts what better-auth stored; imported on demand',
  'plugins/hosting/import/formats.ts': 'reads files of exports; imported on demand, by the command line',
  'plugins/sign-in/passwords/foreign.ts': 'computes hashes of other products; imported on demand',
  'plugins/sign-in/passwords/line.ts': 'counts cores; imported at the first hash',
  'plugins/sign-in/passwords/strength.ts': 'reads the file for browsers of an optional peer; imported on demand',
  'plugins/sign-in/passwords/scrypt.ts': 'computes scrypt; imported on demand',
}

/** Files, or folders with a last `/`, that read the clock, randomness or the network of the platform, with the reason. All others use `runtime`. */
const platformFiles: Record<string, string> = {
  'src/runtime/runtime.ts': 'the default of `runtime`',
  'src/kernel/surroundings.ts': '`ready()` waits for the store in real time',
  'src/store/steady-limit.ts': 'a pause after a fault is in real time, also when the clock is set',
  'src/store/session-names.ts': 'a store of sessions is created by the host app, before and without a kernel',
  'src/store/tenant-rows.ts': 'a placeholder for a user without an address and an id; it need not be unpredictable',
  'src/keys/token.ts': '`encode` and `decode` of authkernel/jwt have no kernel',
  'src/jwt/get-token.ts': '`getToken` of authkernel/jwt has no kernel',
  'plugins/adapters/': 'an adapter is created by the host app, before and without a kernel',
  'plugins/sessions/revocation-feed/feed.ts': 'the age of a copy is measured by a clock that is never set',
  'plugins/federation/provider-tokens/': 'waits for another process in real time, as its timers do',
  'plugins/sign-in/oauth/client.ts': 'compares the clock of the kernel with the one that oauth4webapi reads',
  'plugins/hosting/better-auth-compat/names.ts': 'fills the columns createdAt and updatedAt; an adapter has no kernel',
  'plugins/evidence/debug/': 'measures how long work takes, by a clock that is never set',
  'plugins/evidence/telemetry/': 'measures how long work takes, by a clock that is never set',
  'plugins/evidence/audit/log.ts': 'an anchor is written once a minute of real time',
  'plugins/evidence/health/': 'measures how long checks take, and waits in real time',
}

/** Rooms of `src/`: an import goes to a lower floor or stays in its room. */
const floors: Readonly<Record<string, number>> = {
  errors: 0,
  contract: 1,
  runtime: 2,
  keys: 3,
  options: 3,
  session: 4,
  store: 4,
  http: 4,
  registry: 5,
  jwt: 5,
  access: 6,
  'sign-in': 7,
  request: 8,
  kernel: 9,
  'preset.ts': 10,
  'index.ts': 11,
}
/** Folders of a plugin that is a second entry to the code of others: they import these folders, and no plugin imports them. */
const variants: Readonly<Record<string, string | readonly string[]>> = {
  'plugins/evidence/dev/': 'plugins/evidence/debug/',
  'plugins/sign-in/oidc/': 'plugins/sign-in/oauth/',
  'plugins/sign-in/phone/': 'plugins/sign-in/codes/',
  'plugins/sign-in/id-token/': 'plugins/sign-in/oauth/',
  'plugins/hosting/better-auth-compat/': 'plugins/hosting/import/',
  'plugins/adapters/redis/': 'plugins/adapters/unstorage/',
  'plugins/machines/authorization-server/': ['plugins/machines/bearer/', 'plugins/machines/device-flow/'],
}

/** They stand beside the kernel and see what everybody sees. */
const outside = ['cli', 'testing', 'client', 'parts', 'react', 'vue', 'solid', 'svelte', 'qwik']

const providerTypes = ['oauth', 'oidc', 'email', 'credentials', 'webauthn']
const pluginServices = ['oauth', 'homeRealm', 'appTokens', 'accessTokens', 'passwordTakeover', 'factorTakeover'].map(
  (name) => `services.${name}`,
)
/** Names of plugins that mean something else in the kernel. */
const kernelWords = new Set([
  // A field of a user, and a value of `Identity.match`.
  'email',
  // Services that the kernel declares and asks by name.
  'mail',
  'pages',
  'records',
  // A value of `Route.csrf`.
  'bearer',
  // Options of the host, and a level of its logger.
  'adapter',
  'limits',
  'debug',
  // A hook that the kernel asks.
  'tenants',
  // Words of events and jobs.
  'address',
  'cleanup',
  // A field of a form.
  'phone',
])
/** Files of the kernel that name a plugin, with the reason. */
const namedPlugins: Record<string, string> = {
  'src/contract/oauth-options.ts oauth': 'the type of the options of such a provider',
  'src/contract/oauth-options.ts oidc': 'the type of the options of such a provider',
  'src/contract/provider.ts credentials': 'the type of the options of such a provider',
  'src/contract/provider.ts webauthn': 'the type of the options of such a provider',
  'src/contract/adapter.ts credentials': 'a type: accounts of this provider type are not stored',
  'src/contract/config.ts jwt': 'the name of an option, in a type',
  'src/errors/index.ts credentials': 'the code that clients of Auth.js find in the URL',
  'src/request/request-context.ts admin': 'a kind of actor in an audit log, which a program must not pass for',
  'src/sign-in/park.ts credentials': 'the account of a login that no provider began has a type that Auth.js knows',
}

/** Files below 30 lines that are complete: an index, the layout of a plugin, data, and what is written by a program. */
const mayBeShort = [
  /(?:^|\/)index\.ts$/,
  /^src\/kernel\/entries\//,
  /^bindings\/(?:h3|toolkit|toolkit-node)\.ts$/,
  /^plugins\/providers\//,
  /^plugins\/[^/]+\/[^/]+\/(?:options|tables|messages|errors|routes|methods|pages|pages-\w+|endings)\.ts$/,
  /\.generated\.ts$/,
  /\.d\.ts$/,
]
/** Other files below 30 lines, with the reason why they stand alone. */
const shortFiles: Record<string, string> = {
  'plugins/machines/authorization-server/wanted-access.ts': 'two endpoints need it',
  'src/access/tables.ts': 'the kernel declares it at start; what reads and writes it loads when access ends',
  'plugins/sign-in/webauthn/proof-age.ts': 'four files need it',
  'plugins/pages/pages/features.ts': 'one route, loaded with the pages',
  'plugins/security/two-factor/qr-code.ts': 'pages and methods need it',
  'src/client/ask-passkey.ts': 'pages without passkeys do not load the ceremony',
  'src/parts/account.ts': 'which sections there are; each is a file that is loaded by itself',
  'src/vue/draw.ts': 'the only file that makes nodes of Vue',
  'bindings/cloudflare.ts': 'a host: what it knows of clients',
  'bindings/fetch.ts': 'plain fetch: what runtimes know of clients',
  'bindings/netlify.ts': 'a host: what it knows of clients',
  'bindings/orpc.ts': 'a framework: its errors',
  'bindings/trpc.ts': 'a framework: its errors',
  'bindings/vercel.ts': 'a host: what it knows of clients',
  'bindings/_shared/announce.ts': 'browsers load it with the Qwik binding, without the kernel',
  'bindings/_shared/set-cookie.ts': 'the only file that knows the library for Set-Cookie headers',
  'plugins/adapters/adapter/store.ts': 'a chunk, loaded by the first call of the store',
  'plugins/adapters/redis/faults.ts': 'three files need it',
  'plugins/adapters/redis/names.ts': 'three files need it',
  'plugins/adapters/unstorage/eviction.ts': 'two adapters need it',
  'plugins/federation/portal/section-list.ts': 'a list of what other files define',
  'plugins/federation/portal/sso.ts': 'eight files need it',
  'plugins/federation/saml/service.ts': 'loaded with the first request that uses the library',
  'plugins/federation/saml/symbols.ts': 'what weakens a check is imported by name, without the code',
  'plugins/federation/saml/logout-hooks.ts': 'registered with the plugin; the code of the logout is loaded later',
  'plugins/federation/scim/versions.ts': 'six files need it',
  'plugins/federation/shared-signals/event-types.ts': 'names of a standard, for receiver and sender',
  'plugins/federation/sso/routing.ts': 'the answer to a hook, which three files need',
  'plugins/federation/sso/trial-list.ts': 'two files need it, of which one imports the other',
  'plugins/hosting/better-auth-compat/cookie.ts': 'a format of another product',
  'plugins/hosting/better-auth-compat/kinds.ts': 'a list of what other files define',
  'plugins/machines/authorization-server/ended-grants.ts': 'what ends a grant and what lists it share a table',
  'plugins/machines/bearer/return-page.ts': 'a page to which two ways lead',
  'plugins/machines/authorization-server/rights.ts': 'four endpoints ask it',
  'plugins/machines/authorization-server/userinfo.ts': 'an endpoint is a file',
  'plugins/pages/mail/react-email.ts': 'an optional peer, imported on demand',
  'plugins/people/accounts/link-proof.ts': 'what weakens a check is imported by name, with the check',
  'plugins/people/accounts/linked-account.ts': 'a type and its function that four files need',
  'plugins/people/address/user.ts': 'three files need it',
  'plugins/people/organizations/departures.ts': 'two files need it, of which one imports the other',
  'plugins/sign-in/oauth/configured.ts': 'a chunk, loaded before the first request',
  'plugins/sign-in/oauth/work.ts': 'a chunk, loaded by the first sign-in',
  'plugins/sign-in/passwords/scrypt.ts': 'needs Node; imported on demand',
  'plugins/sign-in/phone/number-history.ts': 'who had a number is no matter of its spelling',
  'plugins/sign-in/webauthn/ceremonies.ts': 'a chunk, loaded by the first ceremony',
  'plugins/sign-in/webauthn/pending.ts': 'registered with the plugin; the ceremonies are loaded later',
  'src/cli/main.ts': 'the program that the command starts',
  'src/cli/package.ts': 'four commands need it',
  'src/cli/routes.ts': 'a command is a file',
  'src/client/app.ts': 'pages do not load the code of apps',
  'src/client/support.ts': 'a page asks it without loading the ceremonies',
  'src/contract/symbols.ts': 'what weakens a check is imported by name, without the code',
  'src/kernel/public-fetch.ts': 'the code that it loads is large, and few apps use it',
  'src/request/serving.ts': 'a chunk, loaded by the first request',
  'src/store/namespaces.ts': 'loaded with the kernel; rows of tenants come with the first call of the store',
  'src/testing/runner.ts': 'the only file that loads vitest',
}

/** Files that read messages of other software, with the reason. */
const foreignTexts: Record<string, string> = {
  'src/errors/deadlines.ts': 'drivers and pools say in words alone that they are full',
  'plugins/adapters/sql/dialect.ts': 'drivers without codes for a lost connection and for a unique key',
  'plugins/adapters/sql/pool.ts': 'PostgreSQL has one code for a stale plan and for features that it lacks',
  'plugins/adapters/sql/record-erase.ts': 'PostgreSQL names the column of the place in the message alone',
  'plugins/adapters/unstorage/primary.ts': 'clients of Redis hand on its answers as messages',
  'plugins/adapters/unstorage/engine-redis.ts': 'clients of Redis hand on its answers as messages',
  'plugins/adapters/redis/client.ts': 'clients of Redis hand on its answers as messages',
  'plugins/evidence/debug/observer.ts': 'keeps the text of another error out of the log, and decides nothing',
}

describe('layering', () => {
  it('every folder of src is a room with a floor, or stands outside of the kernel', () => {
    const rooms = new Set(sources.filter(({ path }) => path.startsWith('src/')).map(({ path }) => roomOf(path)))
    expect([...rooms].sort()).toEqual([...Object.keys(floors), ...outside].sort())
  })

  it('an import in src goes to a lower floor or stays in its room', () => {
    const wrong = offences('src/', ({ path }, { file, library }) => {
      const room = roomOf(path)
      if (outside.includes(room)) return true
      if (!file) return kernelLibraries.includes(library ?? '')
      if (file.startsWith('plugins/')) return path === 'src/preset.ts'
      return file.startsWith('src/') && (roomOf(file) === room || (floors[roomOf(file)] ?? Infinity) < (floors[room] ?? -1))
    })
    expect(wrong).toEqual([])
  })

  it('only index.ts imports preset.ts, and the kernel entry reaches neither', () => {
    const importers = sources.filter(({ imports }) => imports.some(({ file }) => file === 'src/preset.ts')).map(({ path }) => path)
    expect(importers).toEqual(['src/index.ts'])
    const reached = [...reachable('src/kernel/index.ts')]
    expect(reached.length).toBeGreaterThan(30)
    expect(reached.filter((path) => presetFiles.includes(path) || path.startsWith('plugins/'))).toEqual([])
  })

  it('plugins import authkernel/kernel and its parts, authkernel/errors, authkernel/jwt, their own folder and one library, and of each other types alone', () => {
    const wrong = offences('plugins/', ({ path }, { file, library, specifier, type }) => {
      if (path.startsWith('plugins/providers/')) return true
      if (isTypeOfPlugin({ specifier, type })) return true
      const own = [folderOf(path), variants[folderOf(path)] ?? []].flat()
      return (
        library !== undefined ||
        ['authkernel/kernel', 'authkernel/errors', 'authkernel/jwt'].includes(specifier) ||
        specifier.startsWith('authkernel/kernel/') ||
        own.some((folder) => file?.startsWith(folder))
      )
    })
    expect(wrong).toEqual([])
    const libraries = plugins().map(({ path, imports }) => ({
      path,
      libraries: [...new Set(imports.flatMap(({ library }) => (library && !library.startsWith('node:') ? library : [])))],
    }))
    expect(libraries.filter(({ libraries: { length } }) => length > 1)).toEqual([])
  })

  it('a handler of a hook or event of another plugin imports the types of that plugin, and copies none', () => {
    const known = pluginFiles()
    const wrong = sources
      .filter(({ path }) => path.startsWith('plugins/'))
      .flatMap(({ path, text, imports }) =>
        [...text.matchAll(/\bof: (?:'([^']+)'|\[([^\]]+)\])/g)]
          .map(([, one, several]) => (one ?? several!).match(/[\w-]+/g)!)
          .filter((owners) => owners.some((owner) => known.has(owner)))
          .filter(
            (owners) => !imports.some(({ specifier, type }) => type && owners.some((owner) => specifier === `authkernel/plugins/${owner}`)),
          )
          .map((owners) => `${path} imports no types of ${owners.join(', ')}`),
      )
    expect(wrong).toEqual([])
  })

  it('providers are data: they import types of authkernel/kernel, or a provider of which they are a variant', () => {
    expect(
      offences(
        'plugins/providers/',
        (_, { specifier, type, file }) => (type && specifier === 'authkernel/kernel') || (file?.startsWith('plugins/providers/') ?? false),
      ),
    ).toEqual([])
  })

  it('bindings import authkernel, authkernel/kernel, private files of bindings and their framework', () => {
    const wrong = offences('bindings/', ({ path }, { file, library = '', specifier }) => {
      if (file)
        return (
          ['authkernel', 'authkernel/kernel', 'authkernel/errors'].includes(specifier) ||
          specifier.startsWith('authkernel/kernel/') ||
          file.startsWith('bindings/_')
        )
      if (library === 'cookie-es') return path === 'bindings/_shared/set-cookie.ts'
      // The framework itself, where it only understands its own classes: an optional peer. SvelteKit has a module that Vite makes.
      return library.startsWith('node:') ? path in nodeFiles : library in peerDependencies || specifier === '$app/paths'
    })
    expect(wrong).toEqual([])
  })

  it.each(outside)('%s imports public names of the package and its own folder; what browsers load nothing of the server', (room) => {
    const libraries: Record<string, string[]> = {
      // The parser and the SDK are optional peers that commands import on demand.
      cli: ['citty', '@clack/prompts', 'oxc-parser', '@modelcontextprotocol/sdk'],
      testing: ['vitest'],
      client: [],
      parts: [],
      react: ['react'],
      vue: ['vue'],
      solid: ['solid-js'],
      svelte: ['svelte'],
      qwik: ['@builder.io/qwik'],
    }
    const wrong = offences(`src/${room}/`, (_, { file, library = '', specifier, type }) => {
      if (!file) return libraries[room]!.includes(library) || (room === 'cli' && library.startsWith('node:'))
      return (
        file.startsWith(`src/${room}/`) ||
        (specifier.startsWith('authkernel') &&
          (['cli', 'testing'].includes(room) ||
            type ||
            (room !== 'client' && specifier === 'authkernel/client') ||
            // What the parts do is the same in all UI frameworks.
            (!['client', 'parts'].includes(room) && specifier === 'authkernel/parts')))
      )
    })
    expect(wrong).toEqual([])
  })

  it('the kernel names no plugin, no provider type and no service of one plugin', () => {
    const known = new Set([...pluginFiles().keys(), ...providerTypes, 'webauthn-options', 'x-api-key', 'database', ...pluginServices])
    const found = sources
      .filter(({ path }) => path.startsWith('src/') && path !== 'src/preset.ts' && !outside.includes(roomOf(path)))
      .flatMap(({ path, literals }) =>
        literals.filter((text) => known.has(text) && !kernelWords.has(text)).map((text) => `${path} ${text}`),
      )
    expect([...new Set(found)].filter((one) => !(one in namedPlugins))).toEqual([])
    expect(Object.keys(namedPlugins).filter((one) => !found.includes(one))).toEqual([])
  })

  it('nothing is decided by the words of a message: rewording an error changes no answer', () => {
    const found = sources.flatMap(({ path, textMatches }) => textMatches.map((text) => `${path} ${text}`))
    expect(found.filter((one) => !Object.keys(foreignTexts).some((path) => one.startsWith(`${path} `)))).toEqual([])
    expect(Object.keys(foreignTexts).filter((path) => !found.some((one) => one.startsWith(`${path} `)))).toEqual([])
  })

  it('node: appears only where a runtime without it never goes', () => {
    const users = sources
      .filter(({ path, imports }) => !path.startsWith('src/cli/') && imports.some(({ specifier }) => specifier.startsWith('node:')))
      .map(({ path }) => path)
    expect(users.filter((path) => !(path in nodeFiles))).toEqual([])
    expect(Object.keys(nodeFiles).filter((path) => !users.includes(path))).toEqual([])
  })

  it('clock, randomness and network come from the runtime of the kernel', () => {
    const readers = sources.filter(
      ({ path, platformReads }) =>
        platformReads.length > 0 && !path.startsWith('bindings/') && !(path.startsWith('src/') && outside.includes(roomOf(path))),
    )
    const isListed = (path: string): boolean =>
      Object.keys(platformFiles).some((entry) => path === entry || (entry.endsWith('/') && path.startsWith(entry)))
    expect(readers.filter(({ path }) => !isListed(path)).map(({ path, platformReads }) => `${path}: ${platformReads.join(', ')}`)).toEqual(
      [],
    )
    expect(Object.keys(platformFiles).filter((entry) => !readers.some(({ path }) => path.startsWith(entry)))).toEqual([])
  })

  it('no value-import cycles anywhere, type cycles inside the contract alone', () => {
    expect(cycles(sources, ({ type, dynamic }) => !type && !dynamic)).toEqual([])
    // Two plugins may each answer a hook of the other.
    expect(
      cycles(sources, (edge) => !isTypeOfPlugin(edge)).filter((group) => group.some((path) => !path.startsWith('src/contract/'))),
    ).toEqual([])
  })
})

describe('budgets', () => {
  it('no file is longer than 400 lines', () => {
    expect(sources.filter(({ lines }) => lines > 400).map(({ path, lines }) => `${path}: ${lines}`)).toEqual([])
  })

  it('a file below 30 lines is of the layout, or has a reason in `shortFiles`', () => {
    const short = sources
      .filter(({ path, lines }) => lines < 30 && !mayBeShort.some((pattern) => pattern.test(path)))
      .map(({ path }) => path)
    expect(short.filter((path) => !(path in shortFiles))).toEqual([])
    expect(Object.keys(shortFiles).filter((path) => !short.includes(path))).toEqual([])
  })

  it('no type suppression in src, at most 3 elsewhere, each with a reason', () => {
    const found = sources.flatMap(({ path, text }) =>
      [...text.matchAll(/@ts-(?:expect-error|ignore|nocheck)(.*)/g)].map(([, reason]) => ({ path, reason: reason!.trim() })),
    )
    expect(found.filter(({ path }) => path.startsWith('src/'))).toEqual([])
    expect(found.filter(({ reason }) => reason === '')).toEqual([])
    expect(found.length).toBeLessThanOrEqual(3)
  })

  it('at most 15 times `any` in all', () => {
    const found = sources.filter(({ anyTypes }) => anyTypes > 0).map(({ path, anyTypes }) => [path, anyTypes] as const)
    expect(
      found.reduce((sum, [, count]) => sum + count, 0),
      JSON.stringify(found),
    ).toBeLessThanOrEqual(15)
  })

  it('authkernel/kernel exports at most 80 values; what few authors need is in src/kernel/entries', async () => {
    expect(Object.keys(await import('authkernel/kernel')).length).toBeLessThanOrEqual(80)
  })

  it('no grab-bag of utilities', () => {
    expect(sources.filter(({ path }) => /(?:^|\/)_?(?:utils?|helpers?|misc|common)(?:\.ts|\/)/.test(path)).map(({ path }) => path)).toEqual(
      [],
    )
  })

  it('the kernel entry is at most 80 KB gzipped in one file', async () => {
    const { outputFiles } = await build({
      entryPoints: [`${root}src/kernel/index.ts`],
      bundle: true,
      minify: true,
      write: false,
      format: 'esm',
      target: 'es2022',
    })
    expect(gzipSync(outputFiles[0]!.contents, { level: 9 }).length).toBeLessThanOrEqual(80 * 1024)
  })
})

/**
 * "How a plugin folder is laid out" in CONTRIBUTING.md: what a file contains decides its name, and `plugins/machines/api-keys` is the model.
 * `tables` stands for `tables.ts`, `tables-<noun>.ts` and a folder `tables/`.
 */
const anatomy: readonly { what: string; pattern: RegExp; files: readonly string[] }[] = [
  { what: 'declares a record', pattern: /^(?:export )?const \w+: RecordSpec</m, files: ['tables'] },
  { what: 'has texts', pattern: /^(?:export )?const \w+: Messages = /m, files: ['messages'] },
  { what: 'has an error class', pattern: /^export class \w+ extends \w*(?:Error|AccessDenied|Refusal)\b/m, files: ['errors'] },
  { what: 'resolves options', pattern: /^export function resolveOptions\(/m, files: ['options'] },
  // A page registers the route that its form posts to. A plugin with one route needs no file for it.
  { what: 'registers a route', pattern: /\bkernel\.route\(/, files: ['routes', 'pages', 'index'] },
  { what: 'registers routes', pattern: /\bkernel\.route\([\s\S]*\bkernel\.route\(/, files: ['routes', 'pages'] },
  { what: 'has client methods', pattern: /\bclientMethods\(/, files: ['methods'] },
  { what: 'declares the API', pattern: /^export interface \w+Api\b/m, files: ['methods', 'index'] },
]
/** A participle or a word of ours is no name of a file, and a part of the anatomy has one name. */
const vagueNames =
  /\/(?!pwned)(?:\w*[^e]ed|told|made|said|kept|given|found|gone|upkeep|desk|turn|behind|speaker|door|keeper|who|late|others|work|table|api|page|texts)\.ts$/
/** Chunks that `test/package/loading.test.ts` knows by their names, and the sender of HTTP mailers, which is the option `api`. */
const namedOtherwise = new Set(['plugins/sign-in/oauth/configured.ts', 'plugins/sign-in/oauth/work.ts', 'plugins/sign-in/email/api.ts'])
describe('anatomy of a plugin', () => {
  const files = sources.filter(({ path }) => path.startsWith('plugins/') && !path.startsWith('plugins/providers/'))
  const folders = [...new Set(files.map(({ path }) => folderOf(path)))]

  it('a file of a plugin with several files is named after what it contains', () => {
    expect(folders.flatMap((folder) => misplaced(files.filter(({ path }) => path.startsWith(folder))))).toEqual([])
  })

  function misplaced(ofPlugin: readonly Source[]): string[] {
    if (ofPlugin.length === 1) return []
    return ofPlugin.flatMap(({ path, text }) => {
      const name = path.slice(folderOf(path).length)
      const isIn = (stem: string): boolean => name === `${stem}.ts` || name.startsWith(`${stem}-`) || name.startsWith(`${stem}/`)
      return [
        ...anatomy
          .filter(({ pattern, files: stems }) => pattern.test(text) && !stems.some(isIn))
          .map(({ what, files: stems }) => `${path} ${what}: move it to ${stems.map((stem) => `${stem}.ts`).join(' or ')}`),
        ...(vagueNames.test(path) && !namedOtherwise.has(path)
          ? [`${path}: name the file by a noun that a reader knows, or by its name in the anatomy`]
          : []),
      ]
    })
  }
})

/** "Pwned Passwords" is the name of a service, and `Overloaded` the error that a page and its URL name. */
const properNames = new Set(['pwned', 'Overloaded'])
const participle =
  /^(?!(?:[Nn]eed|[Ss]eed|[Ss]peed|[Ff]eed|[Rr]ed|[Ss]hed|[Ee]mbed|[Pp]roceed|[Ss]ucceed)$)(?:[A-Za-z][a-z]+ed|[Tt]old|[Mm]ade|[Ss]aid|[Kk]ept|[Gg]iven|[Ff]ound|[Gg]one|[Hh]eld|[Bb]uilt|[Ss]ent|[Tt]aken|[Kk]nown|[Ss]hown|[Ss]een|[Ww]ritten|[Ll]eft|[Dd]one|[Ll]ost|[Ww]on|[Mm]eant|[Bb]egun|[Dd]rawn|[Tt]hrown|[Cc]hosen|[Bb]roken|[Hh]idden)$/
const privateWord = /^(?:upkeep|desk|turn|behind|told|speaker|guessed)$/

describe('names', () => {
  it('functions, types and constants of a module are no bare participles', () => {
    expect(
      sources.flatMap(({ path, topNames }) =>
        topNames.filter((name) => participle.test(name) && !properNames.has(name)).map((name) => `${path} ${name}`),
      ),
    ).toEqual([])
  })

  it('no private words', () => {
    expect(
      sources.flatMap(({ path, ownNames }) => ownNames.filter((name) => privateWord.test(name)).map((name) => `${path} ${name}`)),
    ).toEqual([])
  })

  it('at most 5 % of functions have one word for a name; a preset of a provider is named after its company', () => {
    const all = sources.filter(({ path }) => !path.startsWith('plugins/providers/')).flatMap(({ functions }) => functions)
    const short = all.filter(({ name }) => !/[a-z0-9][A-Z]/.test(name))
    expect(short.length / all.length, short.map(({ name }) => name).join(', ')).toBeLessThanOrEqual(0.05)
  })

  it('a cast that the compiler does not check has its reason beside it', () => {
    const found = sources.flatMap(({ path, bareCasts }) => bareCasts.map((line) => `${path}:${line}`))
    expect(found).toEqual([])
  })
})

/** Names that are reserved because they say too much: data, no prose. */
const personWordsAllowed = new Set(['plugins/sign-in/usernames/options.ts'])

describe('texts', () => {
  it('sources name users, visitors, clients, attackers and host apps, and no "somebody"', () => {
    const found = sources
      .filter(({ path }) => !personWordsAllowed.has(path))
      .flatMap(({ path, text }) =>
        text
          .split('\n')
          .filter((line) => /\b(?:(?:some|any|every)(?:body|one)|nobody|no one(?!-)|who(?:so)?ever|whomever)\b/i.test(line))
          .map((line) => `${path}: ${line.trim()}`),
      )
    expect(found).toEqual([])
  })

  it('tests and sources cite nothing that a reader cannot open', () => {
    const files = ['src', 'plugins', 'bindings', 'test', 'scripts'].flatMap((folder) => list(folder, '.ts'))
    const cited = files.flatMap((path) =>
      readFileSync(root + path, 'utf8')
        .split('\n')
        .filter((line) => /\bissues? \d|['"`( ][ABM]\d{1,2}(?:, [ABM]\d{1,2})*(?:: |\))/.test(line) && line.length < 400)
        .map((line) => `${path}: ${line.trim()}`),
    )
    expect(cited).toEqual([])
  })
})

describe('parallel lists', () => {
  const tests = list('test', '.test.ts')
  const pages = list('docs', '.md')
  const headings = pages.flatMap((page) => readFileSync(root + page, 'utf8').match(/^#+ .*$/gm) ?? [])

  it('every plugin and binding has a test file of its name', () => {
    const missing = names()
      .map(([, name]) => name)
      .filter((name) => !tests.some((test) => test.endsWith(`/${name}.test.ts`) || test.endsWith(`/${name}.deep.test.ts`)))
    expect(missing).toEqual([])
  })

  it('every plugin and binding has a page or a section of the docs', () => {
    expect(names().filter(([kind, name]) => !documented(kind, name))).toEqual([])
  })

  function documented(kind: string, name: string): boolean {
    return pages.includes(`docs/${kind}/${name}.md`) || headings.some((heading) => heading.includes(`authkernel/${kind}/${name}\``))
  }
})

/** Kind and public name of every plugin and binding. */
function names(): [kind: string, name: string][] {
  const bindings = sources.flatMap(({ path }) => /^bindings\/([^_/][^/]*)\.ts$/.exec(path)?.[1] ?? [])
  return [
    ...[...pluginFiles().keys()].map((name): [string, string] => ['plugins', name]),
    ...bindings.map((name): [string, string] => ['bindings', name]),
  ]
}

function plugins(): Source[] {
  return [...pluginFiles().values()].map((file) => sources.find(({ path }) => path === file)!)
}

function roomOf(path: string): string {
  return path.split('/')[1]!
}

/** `import type … from 'authkernel/plugins/x'`: hooks, events and records are typed once, where they are declared. */
function isTypeOfPlugin({ specifier, type }: Pick<Import, 'specifier' | 'type'>): boolean {
  return type && specifier.startsWith('authkernel/plugins/')
}

/** `plugins/<group>/<name>/` of a file of a plugin. */
function folderOf(path: string): string {
  return `${path.split('/').slice(0, 3).join('/')}/`
}

/** Imports under a folder that a rule does not allow, as readable lines. */
function offences(folder: string, allowed: (source: Source, edge: Import) => boolean): string[] {
  return sources
    .filter(({ path }) => path.startsWith(folder))
    .flatMap((source) =>
      source.imports
        .filter((edge) => !allowed(source, edge))
        .map(({ specifier, type }) => `${source.path} imports ${type ? 'type ' : ''}${specifier}`),
    )
}

function reachable(from: string, seen: Set<string> = new Set()): Set<string> {
  for (const { file, type } of sources.find(({ path }) => path === from)?.imports ?? []) {
    if (!file || type || seen.has(file)) continue
    seen.add(file)
    reachable(file, seen)
  }
  return seen
}
