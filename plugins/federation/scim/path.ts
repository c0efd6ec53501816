/** Names of attributes in filters, paths and parameters: `userName`, `name.givenName`, `urn:…:User:emails.value` (RFC 7644 section 3.10). */
import { ScimError } from './errors.ts'
import { commonAttributes, type ResourceType, type ScimAttribute } from './schemas.ts'

/** Where an attribute is: in the core (`schema` undefined) or in an extension, and which sub-attribute is meant. */
export interface AttributePath {
  readonly schema: string | undefined
  readonly attribute: ScimAttribute
  readonly sub: ScimAttribute | undefined
}

/** Names are compared without case (RFC 7643 section 2.1). Undefined: there is no such attribute. */
export function findAttribute(type: ResourceType, text: string): AttributePath | undefined {
  const lower = text.toLowerCase()
  for (const schema of [type.core, ...type.extensions]) {
    const prefix = `${schema.id.toLowerCase()}:`
    // Entra ID separates the extension and the attribute by a dot or a colon.
    if (lower.startsWith(prefix) || lower.startsWith(`${prefix.slice(0, -1)}.`))
      return findIn(schema.attributes, text.slice(prefix.length), schema === type.core ? undefined : schema.id)
  }
  return lower.startsWith('urn:') ? undefined : findIn([...commonAttributes, ...type.core.attributes], text, undefined)
}

/** The same. Throws ScimError 400 `invalidPath` with the name. */
export function requireAttribute(type: ResourceType, text: string): AttributePath {
  const path = findAttribute(type, text)
  if (!path) throw new ScimError(400, `"${text.slice(0, 200)}" is no attribute of ${type.name}.`, 'invalidPath')
  return path
}

/** The extension that a text names as a whole; undefined: none. */
export function findExtension(type: ResourceType, text: string): string | undefined {
  const lower = text.toLowerCase()
  return type.extensions.find(({ id }) => id.toLowerCase() === lower)?.id
}

/** An attribute of a list by its name, without case. */
export function findByName(attributes: readonly ScimAttribute[] | undefined, name: string): ScimAttribute | undefined {
  const lower = name.toLowerCase()
  return attributes?.find((attribute) => attribute.name.toLowerCase() === lower)
}

function findIn(attributes: readonly ScimAttribute[], text: string, schema: string | undefined): AttributePath | undefined {
  const [name = '', subName, ...rest] = text.split('.')
  const attribute = findByName(attributes, name)
  if (!attribute || rest.length > 0) return undefined
  if (subName === undefined) return { schema, attribute, sub: undefined }
  const sub = findByName(attribute.subAttributes, subName)
  return sub && { schema, attribute, sub }
}
