/**
 * Reads documents at addresses that strangers choose: metadata of a company's identity provider, documents of clients. It must not become a way into the own
 * network (SSRF): https alone, no address of this machine or of a private network, no redirect, little and soon.
 */
import type { PublicFetch, PublicFetchOptions, PublicFetchRequest } from '../contract/services.ts'
import { withDeadline } from '../errors/deadlines.ts'
import { NetworkError, joinBytes, type ReadAnswer } from './network.ts'

type Modules = {
  net: ReturnType<typeof process.getBuiltinModule<'node:net'>>
  dns: ReturnType<typeof process.getBuiltinModule<'node:dns/promises'>>
  https: ReturnType<typeof process.getBuiltinModule<'node:https'>>
}
type Blocks = Readonly<Record<4 | 6, InstanceType<Modules['net']['BlockList']>>>
type Call = PublicFetchRequest & { body?: string; only200: boolean }
type HostAddress = { address: string; family: 4 | 6 }

const maxBytes = 65_536
const defaultDeadline = 5_000
// RFC 6890 and the registries of IANA: this host, private, shared, loopback, link-local (cloud metadata), documentation, benchmarks, relays, multicast, reserved.
const special4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
]
// Of IPv6 only 2000::/3 is public. In it are Teredo, documentation and 6to4, which hide an IPv4 address or lead nowhere.
const special6 = ['::/3', '4000::/2', '8000::/1', '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']

/** The service `publicFetch`. Throws TypeError for an `allow` that is no network, at the first call. */
export function createPublicFetch(options: PublicFetchOptions = {}): PublicFetch {
  let lists: { special: Blocks; allow: Blocks } | undefined
  const call = async (address: string | URL, request: Call): Promise<ReadAnswer> => {
    const { limit = maxBytes, deadline = defaultDeadline, signal } = request
    const url = readUrl(address)
    const modules = loadModules(url)
    lists ??= {
      special: createBlocks(modules, [...special4, ...special6]),
      allow: createBlocks(modules, options.allow ?? []),
    }
    const { special, allow } = lists
    const isPublic = ({ address: text, family }: HostAddress): boolean => {
      const kind = family === 4 ? 'ipv4' : 'ipv6'
      return allow[family].check(text, kind) || !special[family].check(text, kind)
    }
    const read = async (stop: AbortSignal): Promise<ReadAnswer> => {
      const resolved = await resolveHost(modules, url, options)
      const inside = resolved.find((one) => !isPublic(one))
      if (inside) throw new NetworkError('PRIVATE', `${url.host} is ${inside.address}, which is no public address. It is not called.`, true)
      return requestFrom(modules, url, { ...request, limit, signal: stop }, resolved, options)
    }
    return withDeadline(deadline, signal ? [signal] : [], read, (givenUp) =>
      givenUp
        ? new NetworkError('TIMEOUT', `The call to ${placeOf(url)} was given up: the request it was made for ended.`)
        : new NetworkError('TIMEOUT', `${placeOf(url)} did not answer within ${deadline} ms.`),
    )
  }
  return {
    get: (address, request = {}) => call(address, { ...request, only200: true }),
    send: (address, request = {}) => call(address, { ...request, only200: false }),
  }
}

function readUrl(address: string | URL): URL {
  const url = URL.canParse(String(address)) ? new URL(address) : undefined
  if (!url) throw new NetworkError('INSECURE', 'The address is no URL. Write one that begins with https://.')
  if (url.protocol !== 'https:') throw new NetworkError('INSECURE', `${placeOf(url)} is not https.`)
  if (url.username !== '' || url.password !== '')
    throw new NetworkError('INSECURE', `The address of ${url.host} has a username or a password in it.`)
  return url
}

/** Asked through the process, so that bundles for other runtimes have no `node:` import. */
function loadModules(url: URL): Modules {
  try {
    const { process } = globalThis
    const modules = {
      net: process.getBuiltinModule('node:net'),
      dns: process.getBuiltinModule('node:dns/promises'),
      https: process.getBuiltinModule('node:https'),
    }
    if (typeof modules.net.BlockList === 'function' && typeof modules.https.request === 'function') return modules
  } catch {
    // Told below.
  }
  throw new NetworkError(
    'UNSUPPORTED',
    `${placeOf(url)} was not called: this runtime has no node:dns, node:net and node:https, which check and hold the address. Provide the service "publicFetch" with kernel.provide.`,
    true,
  )
}

// One list for each family: a network of IPv6 that has the mapped addresses in it would match all of IPv4.
function createBlocks({ net }: Modules, networks: readonly string[]): Blocks {
  const blocks: Blocks = { 4: new net.BlockList(), 6: new net.BlockList() }
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    const family = net.isIP(address)
    const most = family === 4 ? 32 : 128
    const prefix = bits === undefined ? most : Number(bits)
    if ((family !== 4 && family !== 6) || !Number.isInteger(prefix) || prefix < 0 || prefix > most)
      throw new TypeError(`publicFetch: ${JSON.stringify(network)} in \`allow\` is no address and no network such as "10.1.0.0/16".`)
    blocks[family].addSubnet(address, prefix, family === 4 ? 'ipv4' : 'ipv6')
  }
  return blocks
}

/** Every address of the host: one that leads inside is enough to reject all of them. */
async function resolveHost({ net, dns }: Modules, url: URL, { lookup }: PublicFetchOptions): Promise<HostAddress[]> {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const withFamily = (address: string): HostAddress => ({ address, family: net.isIP(address) === 6 ? 6 : 4 })
  if (net.isIP(host) !== 0) return [withFamily(host)]
  let found: readonly string[]
  try {
    found = lookup ? await lookup(host) : (await dns.lookup(host, { all: true })).map(({ address }) => address)
  } catch (error) {
    const { code } = Object(error) as { code?: unknown }
    throw new NetworkError(
      'UNREACHABLE',
      `The name ${host} was not found: ${typeof code === 'string' ? code : 'the look-up failed'}.`,
      true,
    )
  }
  if (found.length === 0) throw new NetworkError('UNREACHABLE', `The name ${host} has no address.`, true)
  // A look-up of the host may answer anything: what is no address must not reach the connection, which would look it up anew.
  const wrong = found.find((address) => net.isIP(address) === 0)
  if (wrong !== undefined) throw new NetworkError('UNREACHABLE', `The look-up of ${host} answered what is no address.`, true)
  return found.map(withFamily)
}

/** Connects to the addresses that were checked, and to no other: a name that answers otherwise a moment later (DNS rebinding) is not asked again. */
function requestFrom(
  { https }: Modules,
  url: URL,
  { headers = {}, types, limit, signal, body, only200 }: Call & { limit: number; signal: AbortSignal },
  resolved: readonly HostAddress[],
  { ca }: PublicFetchOptions,
): Promise<ReadAnswer> {
  const place = placeOf(url)
  return new Promise((resolve, reject) => {
    const call = https.request(
      url,
      {
        method: body === undefined ? 'GET' : 'POST',
        // A pool or a proxy of the host could have another connection.
        agent: false,
        signal,
        headers: { accept: types?.join(', ') ?? '*/*', ...headers, 'accept-encoding': 'identity' },
        lookup: (_host, order, done) => {
          if (order.all === true)
            done(
              null,
              resolved.map(({ address, family }) => ({ address, family })),
            )
          else done(null, resolved[0]!.address, resolved[0]!.family)
        },
        ...(ca !== undefined && { ca: typeof ca === 'string' ? ca : [...ca] }),
      },
      (answer) => {
        const fail = (error: NetworkError): void => {
          answer.destroy()
          reject(error)
        }
        const { statusCode: status = 0, statusMessage: statusText = '' } = answer
        if (status >= 300 && status < 400)
          return fail(new NetworkError('REDIRECT', `${place} answered with a redirect, which is not followed: it could lead anywhere.`))
        if (only200 && status !== 200) return fail(new NetworkError('STATUS', `${place} answered ${status} and not 200.`))
        const encoding = answer.headers['content-encoding'] ?? 'identity'
        if (encoding !== 'identity')
          return fail(new NetworkError('TYPE', `${place} answered with compressed data, which was not asked for.`))
        const type = (answer.headers['content-type'] ?? '').split(';', 1)[0]!.trim().toLowerCase()
        if (types && !types.includes(type))
          return fail(
            new NetworkError('TYPE', `${place} answered with ${JSON.stringify(type.slice(0, 64))} and not with ${types.join(' or ')}.`),
          )
        const parts: Uint8Array[] = []
        let size = 0
        answer.on('data', (part: Uint8Array) => {
          size += part.byteLength
          if (size > limit) fail(new NetworkError('TOO_LARGE', `${place} answered with more than ${limit} bytes.`))
          else parts.push(part)
        })
        answer.on('end', () =>
          resolve({ status, statusText, headers: headersOf(answer.headers, type, only200), content: joinBytes(parts, size) }),
        )
        answer.on('error', (error) => reject(toNetworkError(place, error)))
        return undefined
      },
    )
    call.on('error', (error) => reject(toNetworkError(place, error)))
    call.end(body)
  })
}

/** What a protocol reads of an answer; cookies and all else stay away. */
function headersOf(given: Readonly<Record<string, string | string[] | undefined>>, type: string, only200: boolean): Headers {
  const headers = new Headers({ 'content-type': type })
  for (const name of only200 ? ['cache-control', 'age'] : ['www-authenticate', 'dpop-nonce']) {
    const value = given[name]
    if (typeof value === 'string') headers.set(name, value)
  }
  return headers
}

function toNetworkError(place: string, error: unknown): NetworkError {
  const { code } = Object(error) as { code?: unknown }
  return new NetworkError('UNREACHABLE', `${place} could not be reached: ${typeof code === 'string' ? code : 'the connection failed'}.`)
}

/** Never a query: it may hold a token. */
function placeOf({ origin, pathname }: URL): string {
  return `${origin}${pathname}`
}
