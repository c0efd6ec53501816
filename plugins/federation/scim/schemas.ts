/** Schemas of the resources: which attributes there are, and what they may hold (RFC 7643). */

/** One attribute of a schema, with the characteristics of RFC 7643 section 2.2. */
export interface ScimAttribute {
  readonly name: string
  readonly type: 'string' | 'boolean' | 'integer' | 'decimal' | 'dateTime' | 'reference' | 'complex'
  readonly multiValued: boolean
  readonly description: string
  readonly required: boolean
  readonly caseExact: boolean
  readonly mutability: 'readOnly' | 'readWrite' | 'immutable' | 'writeOnly'
  readonly returned: 'always' | 'default' | 'never' | 'request'
  readonly uniqueness: 'none' | 'server'
  readonly canonicalValues?: readonly string[]
  readonly referenceTypes?: readonly string[]
  readonly subAttributes?: readonly ScimAttribute[]
}

/** A schema: the core of a resource, or an extension. */
export interface ScimSchema {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly attributes: readonly ScimAttribute[]
}

/** A kind of resource: its core schema and the extensions that it may have. */
export interface ResourceType {
  readonly name: 'User' | 'Group'
  readonly endpoint: '/Users' | '/Groups'
  readonly core: ScimSchema
  readonly extensions: readonly ScimSchema[]
}

/** URNs of the core schemas. */
export const userSchemaId = 'urn:ietf:params:scim:schemas:core:2.0:User'
export const groupSchemaId = 'urn:ietf:params:scim:schemas:core:2.0:Group'
export const enterpriseSchemaId = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'

type Facts = Partial<Omit<ScimAttribute, 'name' | 'description'>>

/** An attribute with the usual characteristics: a single text that may be written and is not unique. */
export function defineAttribute(name: string, description: string, facts: Facts = {}): ScimAttribute {
  return {
    name,
    type: 'string',
    multiValued: false,
    description,
    required: false,
    caseExact: false,
    mutability: 'readWrite',
    returned: 'default',
    uniqueness: 'none',
    ...facts,
  }
}

// A list of values with type and primary: RFC 7643 section 2.4.
function defineList(name: string, description: string, types: readonly string[], value: Facts = {}): ScimAttribute {
  return defineAttribute(name, description, {
    type: 'complex',
    multiValued: true,
    subAttributes: [
      defineAttribute('value', 'The value.', value),
      defineAttribute('display', 'A human-readable name.'),
      defineAttribute('type', 'What the value is for.', types.length > 0 ? { canonicalValues: types } : {}),
      defineAttribute('primary', 'Whether it is the preferred value. At most one is.', { type: 'boolean' }),
    ],
  })
}

const text = defineAttribute

/** Attributes that each resource has beside its schema (RFC 7643 section 3.1). */
export const commonAttributes: readonly ScimAttribute[] = [
  text('schemas', 'The schemas of the resource.', {
    type: 'reference',
    referenceTypes: ['uri'],
    multiValued: true,
    mutability: 'readOnly',
    returned: 'always',
  }),
  text('id', 'The id of the resource here.', { mutability: 'readOnly', returned: 'always', caseExact: true, uniqueness: 'server' }),
  text('externalId', 'The id of the resource at the client.', { caseExact: true }),
  text('meta', 'Facts about the resource.', {
    type: 'complex',
    mutability: 'readOnly',
    subAttributes: [
      text('resourceType', 'The kind of resource.', { mutability: 'readOnly', caseExact: true }),
      text('created', 'When it was created.', { type: 'dateTime', mutability: 'readOnly' }),
      text('lastModified', 'When it was changed last.', { type: 'dateTime', mutability: 'readOnly' }),
      text('location', 'Its address.', { type: 'reference', referenceTypes: ['uri'], mutability: 'readOnly', caseExact: true }),
      text('version', 'Its version, as in the header ETag.', { mutability: 'readOnly', caseExact: true }),
    ],
  }),
]

const userSchema: ScimSchema = {
  id: userSchemaId,
  name: 'User',
  description: 'A user account',
  attributes: [
    text('userName', 'The name that identifies the user in the directory.', { required: true, uniqueness: 'server' }),
    text('name', 'The parts of the name.', {
      type: 'complex',
      subAttributes: [
        text('formatted', 'The whole name.'),
        text('familyName', 'The family name.'),
        text('givenName', 'The given name.'),
        text('middleName', 'The middle names.'),
        text('honorificPrefix', 'The title before the name.'),
        text('honorificSuffix', 'The suffix after the name.'),
      ],
    }),
    text('displayName', 'The name that is shown.'),
    text('nickName', 'The casual name.'),
    text('profileUrl', 'A page about the user.', { type: 'reference', referenceTypes: ['external'] }),
    text('title', 'The job title.'),
    text('userType', 'The relation to the organization, such as Contractor.'),
    text('preferredLanguage', 'Languages, as in the header Accept-Language.'),
    text('locale', 'The language tag for dates, numbers and currency.'),
    text('timezone', 'The time zone, as in the IANA database.'),
    text('active', 'Whether the user may use the app.', { type: 'boolean' }),
    // Accepted and never kept: the app has no use for a password that a directory sets.
    text('password', 'Ignored.', { mutability: 'writeOnly', returned: 'never', caseExact: true }),
    defineList('emails', 'Email addresses.', ['work', 'home', 'other']),
    defineList('phoneNumbers', 'Phone numbers.', ['work', 'home', 'mobile', 'fax', 'pager', 'other']),
    defineList('ims', 'Addresses of messengers.', []),
    defineList('photos', 'Pictures.', ['photo', 'thumbnail'], { type: 'reference', referenceTypes: ['external'], caseExact: true }),
    text('addresses', 'Postal addresses.', {
      type: 'complex',
      multiValued: true,
      subAttributes: [
        text('formatted', 'The whole address.'),
        text('streetAddress', 'Street and number.'),
        text('locality', 'The city.'),
        text('region', 'The state or region.'),
        text('postalCode', 'The postal code.'),
        text('country', 'The country, ISO 3166-1 alpha-2.'),
        text('type', 'What the address is for.', { canonicalValues: ['work', 'home', 'other'] }),
        text('primary', 'Whether it is the preferred one.', { type: 'boolean' }),
      ],
    }),
    text('groups', 'Groups that the user is in. Changed at the groups.', {
      type: 'complex',
      multiValued: true,
      mutability: 'readOnly',
      subAttributes: [
        text('value', 'The id of the group.', { mutability: 'readOnly', caseExact: true }),
        text('$ref', 'The address of the group.', {
          type: 'reference',
          referenceTypes: ['Group'],
          mutability: 'readOnly',
          caseExact: true,
        }),
        text('display', 'The name of the group.', { mutability: 'readOnly' }),
        text('type', 'How the user is in it.', { mutability: 'readOnly', canonicalValues: ['direct'] }),
      ],
    }),
    defineList('entitlements', 'Entitlements.', []),
    defineList('roles', 'Roles, as the directory names them.', []),
    defineList('x509Certificates', 'Certificates.', [], { caseExact: true }),
  ],
}

const enterpriseSchema: ScimSchema = {
  id: enterpriseSchemaId,
  name: 'EnterpriseUser',
  description: 'An employee',
  attributes: [
    text('employeeNumber', 'The number in the organization.'),
    text('costCenter', 'The cost center.'),
    text('organization', 'The organization.'),
    text('division', 'The division.'),
    text('department', 'The department.'),
    text('manager', 'The manager.', {
      type: 'complex',
      subAttributes: [
        text('value', 'The id of the manager.', { caseExact: true }),
        text('$ref', 'The address of the manager.', { type: 'reference', referenceTypes: ['User'], caseExact: true }),
        text('displayName', 'The name of the manager.', { mutability: 'readOnly' }),
      ],
    }),
  ],
}

const groupSchema: ScimSchema = {
  id: groupSchemaId,
  name: 'Group',
  description: 'A group of users',
  attributes: [
    text('displayName', 'The name of the group.', { required: true, uniqueness: 'server' }),
    text('members', 'The users in the group.', {
      type: 'complex',
      multiValued: true,
      subAttributes: [
        text('value', 'The id of the user.', { mutability: 'immutable', caseExact: true }),
        text('$ref', 'The address of the user.', { type: 'reference', referenceTypes: ['User'], mutability: 'immutable', caseExact: true }),
        text('display', 'The name of the user.', { mutability: 'readOnly' }),
        text('type', 'The kind of member.', { mutability: 'immutable', canonicalValues: ['User'] }),
      ],
    }),
  ],
}

/** The type User. `own`: extensions of the host app. */
export function createUserType(own: readonly ScimSchema[] = []): ResourceType {
  return { name: 'User', endpoint: '/Users', core: userSchema, extensions: [enterpriseSchema, ...own] }
}

/** The type Group. */
export const groupType: ResourceType = { name: 'Group', endpoint: '/Groups', core: groupSchema, extensions: [] }
