/** Which hosts a discovery document may send the server to: it must not become a way into the own network (SSRF). */
import { expandAddress, isLoopback } from 'authkernel/kernel'

/** Whether a discovered endpoint is a place that can only be reached from inside this network, while the issuer is not. */
export function leadsInside(endpoint: URL, issuer: URL): boolean {
  if (!isPrivate(endpoint.hostname) || endpoint.hostname === issuer.hostname) return false
  return !(isLoopback(endpoint.hostname) && isLoopback(issuer.hostname))
}

/** Loopback, private, link-local (cloud metadata) and otherwise special hosts. WHATWG URLs spell addresses in one way. */
export function isPrivate(hostname: string): boolean {
  if (hostname.startsWith('[')) return isPrivateV6(hostname.slice(1, -1))
  const octets = /^(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(hostname)
  if (octets) return isPrivateV4(Number(octets[1]), Number(octets[2]), Number(octets[3]))
  const name = hostname.replace(/\.$/, '')
  return isLoopback(name) || !name.includes('.') || /\.(?:internal|local|localdomain|lan|intranet|corp|home|home\.arpa)$/.test(name)
}

// RFC 6890: special-purpose IPv4 blocks.
function isPrivateV4(a: number, b: number, c: number): boolean {
  if (a === 0 || a === 10 || a === 127 || a >= 224) return true
  if (a === 100) return b >= 64 && b <= 127
  if (a === 169) return b === 254
  if (a === 172) return b >= 16 && b <= 31
  if (a === 192) return b === 168 || (b === 0 && (c === 0 || c === 2))
  if (a === 198) return b === 18 || b === 19 || (b === 51 && c === 100)
  return a === 203 && b === 0 && c === 113
}

function isPrivateV6(address: string): boolean {
  const groups = expandAddress(address) ?? []
  const first = groups[0] ?? 0
  const leadingZeros = groups.findIndex((group) => group !== 0)
  // ::, ::1 and the IPv4 addresses that hide in ::/96, ::ffff:0:0/96, 64:ff9b::/96 and 2002::/16.
  if (leadingZeros === -1 || leadingZeros >= 6) return leadingZeros !== 6 || isPrivateEmbedded(groups[6], groups[7])
  if (leadingZeros === 5 && groups[5] === 0xffff) return isPrivateEmbedded(groups[6], groups[7])
  if (first === 0x64 && groups[1] === 0xff9b) return groups[2] !== 0 || isPrivateEmbedded(groups[6], groups[7])
  if (first === 0x2002) return isPrivateEmbedded(groups[1], groups[2])
  // fc00::/7 unique local, fe80::/10 link-local, fec0::/10 site-local, ff00::/8 multicast.
  return (first & 0xfe00) === 0xfc00 || (first & 0xff80) === 0xfe80 || (first & 0xff00) === 0xff00
}

function isPrivateEmbedded(high = 0, low = 0): boolean {
  return isPrivateV4(high >> 8, high & 0xff, low >> 8)
}
