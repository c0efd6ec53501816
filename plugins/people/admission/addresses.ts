/** Lists of addresses and domains, compared in their canonical form. */
import { type Awaitable, toAddress, toAsciiAddress } from 'authkernel/kernel'

/** Domains and addresses. International domains may be written in Unicode or in ASCII. */
export interface AddressList {
  /** `acme.example`, or `*.acme.example` for the subdomains too. A blocked domain always includes its subdomains. */
  domains?: readonly string[] | undefined
  /** Whole addresses. */
  addresses?: readonly string[] | undefined
}
/** What is rejected. */
export interface BlockList extends AddressList {
  /** Whether a domain (ASCII, lower case) belongs to a service of throw-away mailboxes: ask a package that keeps a list. Default: none does. */
  disposable?: ((domain: string) => Awaitable<boolean>) | undefined
}
/** Answers about one address. */
export interface AddressLists {
  /** Whether a canonical address is on the allow list. */
  isAllowed(address: string): boolean
  /** Whether it is on the block list, or of a throw-away service. */
  isBlocked(address: string): Promise<boolean>
}

/** `refuse` throws what is wrong with an entry. */
export function createLists(allow: AddressList, block: BlockList, refuse: (what: string) => never): AddressLists {
  const allowed = readList(allow, 'allow', refuse)
  const blocked = readList(block, 'block', refuse)
  const disposable: (domain: string) => Awaitable<boolean> = block.disposable ?? (() => false)
  return {
    isAllowed(address) {
      const domain = domainOf(address)
      const isListed = allowed.domains.has(domain) || parentsOf(domain).some((parent) => allowed.domains.has(`*.${parent}`))
      return isListed || allowed.domains.has(`*.${domain}`) || allowed.addresses.has(address)
    },
    async isBlocked(address) {
      const names = [domainOf(address), ...parentsOf(domainOf(address))]
      if (names.some((name) => blocked.domains.has(name) || blocked.domains.has(`*.${name}`))) return true
      if (blocked.addresses.has(address) || blocked.addresses.has(withoutTag(address))) return true
      return (await disposable(domainOf(toAsciiAddress(address)))) === true
    },
  }
}

interface ReadList {
  domains: ReadonlySet<string>
  addresses: ReadonlySet<string>
}

function readList({ domains = [], addresses = [] }: AddressList, name: string, refuse: (what: string) => never): ReadList {
  const readAll = (kind: 'domains' | 'addresses', texts: readonly string[], read: (text: string) => string | undefined): Set<string> => {
    if (!Array.isArray(texts)) refuse(`\`${name}.${kind}\` must be a list of texts.`)
    return new Set(texts.map((text) => read(text) ?? refuse(`\`${name}.${kind}\` holds "${String(text)}", which mail cannot be sent to.`)))
  }
  return { domains: readAll('domains', domains, readDomain), addresses: readAll('addresses', addresses, toAddress) }
}

function readDomain(text: unknown): string | undefined {
  if (typeof text !== 'string') return undefined
  const isWild = text.startsWith('*.')
  const address = toAddress(`name@${isWild ? text.slice(2) : text}`)
  return address && (isWild ? '*.' : '') + domainOf(address)
}

function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1)
}

/** `a.b.example`: `b.example` and `example`. */
function parentsOf(domain: string): string[] {
  const labels = domain.split('.')
  return labels.slice(1).map((_, at) => labels.slice(at + 1).join('.'))
}

// `name+tag@` reaches the mailbox of `name@` at most services: a tag must not get round the block.
function withoutTag(address: string): string {
  const at = address.lastIndexOf('@')
  const plus = address.indexOf('+')
  return plus > 0 && plus < at ? address.slice(0, plus) + address.slice(at) : address
}
