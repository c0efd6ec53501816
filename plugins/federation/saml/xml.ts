/**
 * Reads XML of a strict subset in which all parsers agree: UTF-8, no document type, no entities of its own, no processing instructions, comments or CDATA
 * sections, and no element or attribute twice in one meaning. What another parser might read differently is rejected.
 */
import { XmlError } from './errors.ts'

/** One attribute; namespace declarations are no attributes. */
export interface XmlAttribute {
  readonly local: string
  /** '' for an attribute without a prefix. */
  readonly namespace: string
  readonly value: string
}
/** One element. */
export interface XmlElement {
  readonly local: string
  readonly namespace: string
  readonly attributes: readonly XmlAttribute[]
  readonly children: readonly (XmlElement | string)[]
  /** Prefixes that hold inside; '' is the default namespace. */
  readonly prefixes: ReadonlyMap<string, string>
  readonly parent: XmlElement | undefined
  /** Where it begins, where its name ends, and where it ends in the text. */
  readonly place: { readonly start: number; readonly name: number; end: number }
}
type Mutable = { -readonly [K in keyof XmlElement]: XmlElement[K] } & { children: (XmlElement | string)[] }

const maxDepth = 48
const maxElements = 6_000
const maxAttributes = 40

const xmlSpace = 'http://www.w3.org/XML/1998/namespace'
const xmlnsSpace = 'http://www.w3.org/2000/xmlns/'
const illegal = /[^\t\n\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u
const declaration =
  /^<\?xml version=(?:"1\.0"|'1\.0')(?: encoding=(?:"[Uu][Tt][Ff]-8"|'[Uu][Tt][Ff]-8'))?(?: standalone=(?:"(?:yes|no)"|'(?:yes|no)'))? ?\?>/
const nameForm = /([A-Za-z_][\w.-]*)(?::([A-Za-z_][\w.-]*))?/y
const value = /[ \n\t]*=[ \n\t]*(?:"([^"<]*)"|'([^'<]*)')/y
const blanks = /[ \n\t]*/y
const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

/** The root element. Line breaks are read as line feeds first (XML 1.0 section 2.11). Throws XmlError. */
export function parseXml(source: string): XmlElement {
  const text = source.replace(/\r\n?/g, '\n')
  if (illegal.test(text)) throw new XmlError('It has a character that XML does not allow.')
  return new Reader(text, declaration.exec(text)?.[0].length ?? 0).document()
}

/** The text of an element as it stands, with the prefixes that it takes from elements around it. `source` is what was given to `parseXml`. */
export function textOf(element: XmlElement, source: string): string {
  const text = source.replace(/\r\n?/g, '\n')
  const { start, name, end } = element.place
  const tag = text.slice(name, text.indexOf('>', name))
  const declared = [...element.prefixes].filter(([prefix]) => prefix !== 'xml' && !declares(tag, prefix))
  const more = declared.map(([prefix, uri]) => ` xmlns${prefix && `:${prefix}`}="${escapeXml(uri)}"`)
  return text.slice(start, name) + more.join('') + text.slice(name, end)
}

/** A text for an attribute or an element. */
export function escapeXml(text: string): string {
  return text.replace(/[&<>"'\t\n\r]/g, (char) => `&#${char.charCodeAt(0)};`)
}

function declares(tag: string, prefix: string): boolean {
  return prefix === ''
    ? /[ \n\t]xmlns[ \n\t=]/.test(tag)
    : new RegExp(`[ \\n\\t]xmlns:${prefix.replaceAll('.', '\\.')}[ \\n\\t=]`).test(tag)
}

class Reader {
  private readonly text: string
  private at: number
  private elements = 0
  constructor(text: string, at: number) {
    this.text = text
    this.at = at
  }

  document(): XmlElement {
    this.skip()
    let open: Mutable | undefined
    const root = this.openTag(undefined)
    if (!root.closed) open = root.element
    while (open) {
      this.content(open)
      if (this.text.startsWith('</', this.at)) open = this.closeTag(open)
      else {
        const { element, closed } = this.openTag(open)
        open.children.push(element)
        if (!closed) open = element
      }
    }
    this.skip()
    if (this.at !== this.text.length) this.fail('Something follows the root element.')
    return root.element
  }

  private skip(): boolean {
    blanks.lastIndex = this.at
    const found = blanks.exec(this.text)![0].length
    this.at += found
    return found > 0
  }

  private fail(what: string): never {
    throw new XmlError(what)
  }

  /** Text up to the next tag. */
  private content(open: Mutable): void {
    const next = this.text.indexOf('<', this.at)
    if (next === -1) this.fail('An element is not closed.')
    const text = this.text.slice(this.at, next)
    if (text.includes(']]>')) this.fail('It has `]]>` in a text.')
    if (text !== '') open.children.push(decode(text))
    this.at = next
  }

  private name(): { prefix: string; local: string; raw: string } {
    nameForm.lastIndex = this.at
    const found = nameForm.exec(this.text)
    if (!found) {
      const after = this.text.slice(this.at, this.at + 8)
      if (after.startsWith('!--')) this.fail('It has a comment.')
      if (after.startsWith('?')) this.fail('It has a processing instruction.')
      if (after.startsWith('![CDATA')) this.fail('It has a CDATA section.')
      if (after.startsWith('!')) this.fail('It has a document type.')
      this.fail('A name is not one of plain letters.')
    }
    this.at = nameForm.lastIndex
    const [raw, first, second] = found as unknown as [string, string, string | undefined] // The expression has two groups, the second optional.
    return second === undefined ? { prefix: '', local: first, raw } : { prefix: first, local: second, raw }
  }

  private openTag(parent: Mutable | undefined): { element: Mutable; closed: boolean } {
    const start = this.at
    if (this.text[this.at] !== '<') this.fail('It does not begin with an element.')
    this.at++
    const { prefix, local } = this.name()
    const nameEnd = this.at
    if (++this.elements > maxElements) this.fail(`It has more than ${maxElements} elements.`)
    const written: { prefix: string; local: string; value: string }[] = []
    const seen = new Set<string>()
    for (;;) {
      const apart = this.skip()
      if (this.text[this.at] === '>' || this.text.startsWith('/>', this.at)) break
      if (!apart) this.fail('A tag is malformed.')
      const { raw, ...name } = this.name()
      value.lastIndex = this.at
      const found = value.exec(this.text)
      if (!found) this.fail('An attribute has no value in quotes.')
      this.at = value.lastIndex
      if (seen.has(raw)) this.fail(`An element has the attribute "${raw}" twice.`)
      seen.add(raw)
      if (seen.size > maxAttributes) this.fail(`An element has more than ${maxAttributes} attributes.`)
      written.push({ ...name, value: decode((found[1] ?? found[2] ?? '').replace(/[\t\n]/g, ' ')) })
    }
    const closed = this.text[this.at] === '/'
    this.at += closed ? 2 : 1
    const prefixes = scope(parent?.prefixes ?? new Map([['xml', xmlSpace]]), written)
    const namespace = prefix === '' ? (prefixes.get('') ?? '') : lookUp(prefixes, prefix)
    const attributes = written
      .filter((one) => one.prefix !== 'xmlns' && !(one.prefix === '' && one.local === 'xmlns'))
      .map((one) => ({ local: one.local, namespace: one.prefix === '' ? '' : lookUp(prefixes, one.prefix), value: one.value }))
    if (new Set(attributes.map((one) => `${one.namespace} ${one.local}`)).size < attributes.length)
      this.fail('An element has one attribute under two prefixes.')
    const place = { start, name: nameEnd, end: this.at }
    const element: Mutable = { local, namespace, attributes, children: [], prefixes, parent, place }
    if (depthOf(element) > maxDepth) this.fail(`It is more than ${maxDepth} elements deep.`)
    return { element, closed }
  }

  /** The element around the one that ends. */
  private closeTag(open: Mutable): Mutable | undefined {
    this.at += 2
    const start = this.at
    this.name()
    const raw = this.text.slice(start, this.at)
    if (raw !== this.text.slice(open.place.start + 1, open.place.name)) this.fail('An end tag closes another element than the open one.')
    this.skip()
    if (this.text[this.at] !== '>') this.fail('An end tag is malformed.')
    this.at++
    open.place.end = this.at
    return open.parent as Mutable | undefined
  }
}

function depthOf(element: XmlElement): number {
  let depth = 0
  for (let one: XmlElement | undefined = element; one; one = one.parent) depth++
  return depth
}

function lookUp(prefixes: ReadonlyMap<string, string>, prefix: string): string {
  const uri = prefixes.get(prefix)
  if (uri === undefined) throw new XmlError(`The prefix "${prefix}" has no namespace.`)
  return uri
}

function scope(
  outer: ReadonlyMap<string, string>,
  written: readonly { prefix: string; local: string; value: string }[],
): ReadonlyMap<string, string> {
  const own = written.flatMap((one): [string, string][] =>
    one.prefix === 'xmlns' ? [[one.local, one.value]] : one.prefix === '' && one.local === 'xmlns' ? [['', one.value]] : [],
  )
  if (own.length === 0) return outer
  for (const [prefix, uri] of own) {
    if (prefix === 'xml' || prefix === 'xmlns' || uri === xmlSpace || uri === xmlnsSpace)
      throw new XmlError('It redefines a prefix of XML.')
    // Canonical XML of a relative namespace is undefined: libraries answer an empty text, whose digest fits any document.
    if (uri === '' ? prefix !== '' : !/^[A-Za-z][\w+.-]*:[^ ]+$/.test(uri)) throw new XmlError('A namespace is no absolute URI.')
  }
  return new Map([...outer, ...own])
}

function decode(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(/&([^&;]{0,10};?)/g, (_, inside: string) => {
    const name = inside.endsWith(';') ? inside.slice(0, -1) : ''
    if (Object.hasOwn(entities, name)) return entities[name]!
    const digits = /^#(?:x([0-9a-fA-F]{1,6})|(\d{1,7}))$/.exec(name)
    const code = digits ? Number.parseInt(digits[1] ?? digits[2]!, digits[1] === undefined ? 10 : 16) : -1
    const char = code >= 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '\0'
    if (char !== '\r' && illegal.test(char)) throw new XmlError('It has an entity that is not one of XML itself.')
    return char
  })
}
