/** Looks into a tree of XML by names of both namespace and element. */
import { XmlError } from './errors.ts'
import type { XmlElement } from './xml.ts'

/** Namespaces of SAML, XML signatures and XML encryption. */
export const ns = {
  protocol: 'urn:oasis:names:tc:SAML:2.0:protocol',
  assertion: 'urn:oasis:names:tc:SAML:2.0:assertion',
  metadata: 'urn:oasis:names:tc:SAML:2.0:metadata',
  signature: 'http://www.w3.org/2000/09/xmldsig#',
  encryption: 'http://www.w3.org/2001/04/xmlenc#',
} as const

/** A namespace and a local name. */
export type Name = readonly [namespace: string, local: string]

/** Children that are elements, all or of one name. */
export function elementsOf(element: XmlElement, name?: Name): XmlElement[] {
  const all = element.children.filter((child): child is XmlElement => typeof child !== 'string')
  return name ? all.filter((child) => isNamed(child, name)) : all
}

/** The only child of a name, or undefined. Throws XmlError for two. */
export function childOf(element: XmlElement, name: Name): XmlElement | undefined {
  const [child, ...more] = elementsOf(element, name)
  if (more.length > 0) throw new XmlError(`<${element.local}> has more than one <${name[1]}>.`)
  return child
}

/** The only child of a name. Throws XmlError where it is missing or there are two. */
export function requireChild(element: XmlElement, name: Name): XmlElement {
  const child = childOf(element, name)
  if (!child) throw new XmlError(`<${element.local}> has no <${name[1]}>.`)
  return child
}

export function isNamed(element: XmlElement, [namespace, local]: Name): boolean {
  return element.local === local && element.namespace === namespace
}

/** The value of an attribute without a prefix. */
export function attributeOf(element: XmlElement, local: string): string | undefined {
  return element.attributes.find((one) => one.local === local && one.namespace === '')?.value
}

/** The text of an element without blanks around it. Throws XmlError where it has elements. */
export function contentOf(element: XmlElement): string {
  if (elementsOf(element).length > 0) throw new XmlError(`<${element.local}> has elements where a text is expected.`)
  return element.children.join('').trim()
}

/** The element and everything inside. */
export function* walk(element: XmlElement): Generator<XmlElement> {
  yield element
  for (const child of elementsOf(element)) yield* walk(child)
}
