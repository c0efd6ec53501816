/** Attributes of an assertion, and the user that they describe where a provider has no `profile` of its own. */
import type { ProviderUser } from 'authkernel/kernel'
import { firstValue, type SamlAnswer } from './answer.ts'
import { Refusal } from './errors.ts'
import { attributeOf, childOf, contentOf, elementsOf, ns } from './tree.ts'
import type { XmlElement } from './xml.ts'

const maxNames = 200
const maxValues = 2_000
const maxText = 4_096

/** Values by the names of their attributes. A value that is an element counts where it is a NameID. Throws `Refusal` for more than can be kept. */
export function readAttributes(assertion: XmlElement): Record<string, string[]> {
  const values = new Map<string, string[]>()
  let count = 0
  for (const statement of elementsOf(assertion, [ns.assertion, 'AttributeStatement'])) {
    for (const attribute of elementsOf(statement, [ns.assertion, 'Attribute'])) {
      const name = attributeOf(attribute, 'Name') ?? ''
      if (name === '' || name.length > 300) throw tooMany('An attribute has no name, or one of more than 300 characters.')
      const list = values.get(name) ?? []
      for (const one of elementsOf(attribute, [ns.assertion, 'AttributeValue'])) {
        const text = valueOf(one)
        if (text === undefined) continue
        if (++count > maxValues || text.length > maxText)
          throw tooMany('The assertion has too many values of attributes, or one that is too long.')
        list.push(text)
      }
      values.set(name, list)
      if (values.size > maxNames) throw tooMany('The assertion has too many attributes.')
    }
  }
  return Object.fromEntries(values)
}

/** What identity providers call an address. */
export const mailNames: readonly string[] = [
  'email',
  'mail',
  'emailAddress',
  'urn:oid:0.9.2342.19200300.100.1.3',
  'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress',
]
const fullNames = [
  'displayName',
  'name',
  'cn',
  'urn:oid:2.16.840.1.113730.3.1.241',
  'http://schemas.microsoft.com/identity/claims/displayname',
]
const firstNames = ['givenName', 'firstName', 'urn:oid:2.5.4.42', 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/givenname']
const lastNames = ['sn', 'surname', 'lastName', 'urn:oid:2.5.4.4', 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/surname']

/** What Entra ID, Okta, Google Workspace, ADFS, Keycloak and Shibboleth call address and name. */
export function defaultProfile(answer: SamlAnswer): ProviderUser {
  const { subject, nameId, nameIdFormat } = answer
  const email = firstValue(answer, mailNames) ?? (nameIdFormat.endsWith(':emailAddress') ? nameId : undefined)
  const parts = [firstValue(answer, firstNames), firstValue(answer, lastNames)].filter((part) => part !== undefined)
  const name = firstValue(answer, fullNames) ?? parts.join(' ')
  return { id: subject, ...(email !== undefined && { email }), ...(name !== '' && { name }) }
}

function valueOf(element: XmlElement): string | undefined {
  if (elementsOf(element).length === 0) return contentOf(element)
  const name = childOf(element, [ns.assertion, 'NameID'])
  return name && contentOf(name)
}

function tooMany(message: string): Refusal {
  return new Refusal(message, { check: 'form', fix: 'Let the identity provider send only the attributes and groups that this app needs.' })
}
