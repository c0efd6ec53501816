/** Requests as directories send them, written from the documentation of each. `{a}` stands for the id that the step named `a` was answered. */

export interface Step {
  /** Keeps the id of the answer under this name. */
  as?: string
  send: [method: string, path: string, body?: unknown]
  status: number
  /** What the body contains. */
  has?: object
}
export interface Dialogue {
  userAgent: string | undefined
  /** Default: `application/scim+json`. */
  accept?: string
  /** Default: `application/scim+json`. */
  contentType?: string
  steps: readonly Step[]
}

const user = 'urn:ietf:params:scim:schemas:core:2.0:User'
const group = 'urn:ietf:params:scim:schemas:core:2.0:Group'
const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'
const patch = 'urn:ietf:params:scim:api:messages:2.0:PatchOp'
const ops = (...Operations: object[]): object => ({ schemas: [patch], Operations })

/** Microsoft Entra ID: "Tutorial: Develop and plan provisioning for a SCIM endpoint". It sends no User-Agent. */
const entra: Dialogue = {
  userAgent: undefined,
  steps: [
    // The test of the connection asks for a user that does not exist.
    {
      send: ['GET', '/Users?filter=userName eq "8f2d6f8e-0000-4d3f-9d57-000000000000"'],
      status: 200,
      has: { totalResults: 0, Resources: [] },
    },
    {
      as: 'u',
      send: [
        'POST',
        '/Users',
        {
          schemas: [user, enterprise],
          externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef',
          userName: 'Test_User_ab6490ee@acme.example',
          active: true,
          displayName: 'lennay',
          emails: [{ primary: true, type: 'work', value: 'Test_User_fd0ea19b@acme.example' }],
          meta: { resourceType: 'User' },
          name: { formatted: 'givenName familyName', familyName: 'familyName', givenName: 'givenName' },
          roles: [],
        },
      ],
      status: 201,
      has: { userName: 'Test_User_ab6490ee@acme.example', active: true },
    },
    { send: ['GET', '/Users/{u}'], status: 200, has: { id: '{u}' } },
    { send: ['GET', '/Users?filter=externalId eq "0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef"'], status: 200, has: { totalResults: 1 } },
    {
      send: [
        'PATCH',
        '/Users/{u}',
        ops(
          { op: 'Replace', path: 'emails[type eq "work"].value', value: 'updatedEmail@acme.example' },
          { op: 'Replace', path: 'name.familyName', value: 'updatedFamilyName' },
        ),
      ],
      status: 200,
      has: { emails: [{ type: 'work', value: 'updatedEmail@acme.example', primary: true }], name: { familyName: 'updatedFamilyName' } },
    },
    {
      send: [
        'PATCH',
        '/Users/{u}',
        ops(
          { op: 'Add', path: `${enterprise}:department`, value: 'Sales' },
          { op: 'Add', path: `${enterprise}:manager`, value: '{u}' },
          { op: 'Add', path: 'phoneNumbers[type eq "mobile"].value', value: '+1 555 0100' },
          { op: 'Add', path: 'addresses[type eq "work"].country', value: 'DE' },
          { op: 'Replace', path: 'roles[primary eq "True"].value', value: 'App.Reader' },
        ),
      ],
      status: 200,
      has: {
        [enterprise]: { department: 'Sales', manager: { value: '{u}' } },
        phoneNumbers: [{ type: 'mobile', value: '+1 555 0100' }],
        addresses: [{ type: 'work', country: 'DE' }],
      },
    },
    {
      send: ['PATCH', '/Users/{u}', ops({ op: 'Replace', value: { 'name.givenName': 'Another', displayName: 'Another Name' } })],
      status: 200,
      has: { displayName: 'Another Name', name: { givenName: 'Another' } },
    },
    { send: ['PATCH', '/Users/{u}', ops({ op: 'Replace', path: 'active', value: 'False' })], status: 200, has: { active: false } },
    { send: ['PATCH', '/Users/{u}', ops({ op: 'Replace', path: 'active', value: 'True' })], status: 200, has: { active: true } },
    {
      as: 'g',
      send: [
        'POST',
        '/Groups',
        {
          schemas: [group, 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group'],
          externalId: '8aa1a0c0',
          displayName: 'displayName',
          meta: { resourceType: 'Group' },
        },
      ],
      status: 201,
      has: { displayName: 'displayName' },
    },
    { send: ['GET', '/Groups?excludedAttributes=members&filter=displayName eq "displayName"'], status: 200, has: { totalResults: 1 } },
    { send: ['PATCH', '/Groups/{g}', ops({ op: 'Replace', path: 'displayName', value: 'renamed' })], status: 204 },
    { send: ['PATCH', '/Groups/{g}', ops({ op: 'Add', path: 'members', value: [{ $ref: null, value: '{u}' }] })], status: 204 },
    { send: ['GET', '/Groups/{g}'], status: 200, has: { displayName: 'renamed', members: [{ value: '{u}' }] } },
    {
      send: ['GET', '/Groups?filter=id eq "{g}" and members eq "{u}"&attributes=id'],
      status: 200,
      has: { totalResults: 1, Resources: [{ id: '{g}' }] },
    },
    { send: ['PATCH', '/Groups/{g}', ops({ op: 'Remove', path: 'members', value: [{ $ref: null, value: '{u}' }] })], status: 204 },
    {
      send: ['GET', '/Groups?filter=id eq "{g}" and members eq "{u}"&attributes=id'],
      status: 200,
      has: { totalResults: 0, Resources: [] },
    },
    { send: ['GET', '/Groups/{g}?excludedAttributes=members'], status: 200 },
    { send: ['DELETE', '/Groups/{g}'], status: 204 },
    { send: ['DELETE', '/Users/{u}'], status: 204 },
    { send: ['GET', '/Users/{u}'], status: 404, has: { status: '404', schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'] } },
    { send: ['DELETE', '/Users/{u}'], status: 404 },
  ],
}

/** Okta: "Understanding user provisioning" and "SCIM 2.0 protocol reference". */
const okta: Dialogue = {
  userAgent: 'Okta SCIM Client 1.0.0',
  steps: [
    { send: ['GET', '/ServiceProviderConfig'], status: 200 },
    { send: ['GET', '/Users?startIndex=1&count=2'], status: 200, has: { startIndex: 1 } },
    {
      send: ['GET', '/Users?filter=userName%20eq%20%22test.user%40acme.example%22&startIndex=1&count=100'],
      status: 200,
      has: { totalResults: 0, Resources: [] },
    },
    {
      as: 'u',
      send: [
        'POST',
        '/Users',
        {
          schemas: [user],
          userName: 'test.user@acme.example',
          name: { givenName: 'Test', familyName: 'User' },
          emails: [{ primary: true, value: 'test.user@acme.example', type: 'work' }],
          displayName: 'Test User',
          locale: 'en-US',
          externalId: '00ujl29u0le5T6Aj10h7',
          groups: [],
          password: '1mz050nq',
          active: true,
        },
      ],
      status: 201,
      has: { locale: 'en-US', active: true },
    },
    { send: ['GET', '/Users/{u}'], status: 200, has: { externalId: '00ujl29u0le5T6Aj10h7' } },
    {
      send: [
        'PUT',
        '/Users/{u}',
        {
          schemas: [user],
          id: '{u}',
          userName: 'test.user@acme.example',
          name: { givenName: 'Another', middleName: '', familyName: 'User' },
          emails: [{ primary: true, value: 'test.user@acme.example', type: 'work', display: 'test.user@acme.example' }],
          active: true,
          groups: [],
          meta: { resourceType: 'User' },
        },
      ],
      status: 200,
      has: { name: { givenName: 'Another', familyName: 'User' } },
    },
    { send: ['PATCH', '/Users/{u}', ops({ op: 'replace', value: { active: false } })], status: 200, has: { active: false } },
    { send: ['PATCH', '/Users/{u}', ops({ op: 'replace', value: { active: true } })], status: 200, has: { active: true } },
    { as: 'g', send: ['POST', '/Groups', { schemas: [group], displayName: 'Test SCIMv2', members: [] }], status: 201 },
    {
      send: ['PATCH', '/Groups/{g}', ops({ op: 'add', path: 'members', value: [{ value: '{u}', display: 'test.user@acme.example' }] })],
      status: 204,
    },
    { send: ['PATCH', '/Groups/{g}', ops({ op: 'replace', value: { id: '{g}', displayName: 'Renamed SCIMv2' } })], status: 204 },
    {
      send: ['GET', '/Groups?startIndex=1&count=100'],
      status: 200,
      has: { totalResults: 1, Resources: [{ displayName: 'Renamed SCIMv2', members: [{ value: '{u}' }] }] },
    },
    { send: ['PATCH', '/Groups/{g}', ops({ op: 'remove', path: 'members[value eq "{u}"]' })], status: 204 },
    { send: ['PATCH', '/Groups/{g}', ops({ op: 'replace', path: 'members', value: [{ value: '{u}' }] })], status: 204 },
    { send: ['DELETE', '/Groups/{g}'], status: 204 },
    // A user that was deactivated before it was assigned.
    {
      send: [
        'POST',
        '/Users',
        { schemas: [user], userName: 'gone@acme.example', emails: [{ primary: true, value: 'gone@acme.example' }], active: false },
      ],
      status: 201,
      has: { active: false },
    },
    {
      send: ['POST', '/Users', { schemas: [user], userName: 'test.user@acme.example', active: true }],
      status: 409,
      has: { scimType: 'uniqueness' },
    },
  ],
}

/** OneLogin: "Implement RESTful SCIM APIs for Your App". It takes JSON, replaces users, and patches groups. */
const oneLogin: Dialogue = {
  userAgent: 'OneLogin',
  accept: 'application/json',
  steps: [
    // The connection looks for a user that does not exist.
    {
      send: ['GET', '/Users?filter=userName eq "onelogin_user_that_does_not_exist"'],
      status: 200,
      has: { totalResults: 0, Resources: [] },
    },
    { send: ['GET', '/Users?filter=userName eq "one@acme.example"'], status: 200, has: { totalResults: 0 } },
    {
      as: 'u',
      send: [
        'POST',
        '/Users',
        {
          schemas: [user, enterprise],
          userName: 'one@acme.example',
          name: { givenName: 'One', familyName: 'Login', formatted: 'One Login' },
          emails: [{ value: 'one@acme.example', primary: true, type: 'work' }],
          [enterprise]: { employeeNumber: 1701, department: '', manager: { managerId: '', displayName: null } },
          title: null,
          phoneNumbers: [{ value: '', type: 'work' }],
          active: true,
        },
      ],
      status: 201,
      has: { [enterprise]: { employeeNumber: '1701' }, userName: 'one@acme.example' },
    },
    { send: ['GET', '/Users/{u}'], status: 200, has: { id: '{u}' } },
    {
      send: ['PUT', '/Users/{u}', { schemas: [user], id: '{u}', userName: 'one@acme.example', active: false }],
      status: 200,
      has: { active: false },
    },
    { send: ['PUT', '/Users/{u}', { schemas: [user], userName: 'one@acme.example', active: true }], status: 200, has: { active: true } },
    { send: ['GET', '/Groups'], status: 200, has: { totalResults: 0, Resources: [] } },
    { as: 'g', send: ['POST', '/Groups', { schemas: [group], displayName: 'Everyone' }], status: 201 },
    { send: ['PATCH', '/Groups/{g}', ops({ op: 'add', path: 'members', value: [{ value: '{u}', $ref: '../Users/{u}' }] })], status: 204 },
    { send: ['GET', '/Groups'], status: 200, has: { Resources: [{ displayName: 'Everyone', members: [{ value: '{u}' }] }] } },
    { send: ['PATCH', '/Groups/{g}', ops({ op: 'remove', path: 'members[value eq "{u}"]' })], status: 204 },
    { send: ['PUT', '/Groups/{g}', { schemas: [group], displayName: 'Everyone', members: [] }], status: 200 },
    { send: ['DELETE', '/Users/{u}'], status: 204 },
  ],
}

/** JumpCloud: "Custom SCIM Identity Management Integration". It tests the connection with a user and a group of its own, which it removes again. */
const jumpCloud: Dialogue = {
  userAgent: 'JumpCloud',
  steps: [
    { send: ['GET', '/Users?filter=userName%20eq%20%22jc.test@acme.example%22'], status: 200, has: { totalResults: 0 } },
    {
      as: 't',
      send: [
        'POST',
        '/Users',
        {
          schemas: [user],
          userName: 'jc.test@acme.example',
          name: { givenName: 'JumpCloud', familyName: 'Test' },
          displayName: 'JumpCloud Test',
          emails: [{ value: 'jc.test@acme.example', type: 'work', primary: true }],
          active: true,
        },
      ],
      status: 201,
    },
    {
      send: [
        'PUT',
        '/Users/{t}',
        {
          schemas: [user],
          id: '{t}',
          userName: 'jc.test@acme.example',
          name: { givenName: 'Changed', familyName: 'Test' },
          emails: [{ value: 'jc.test@acme.example', type: 'work', primary: true }],
          active: true,
          meta: { resourceType: 'User', location: 'Users/{t}' },
        },
      ],
      status: 200,
      has: { name: { givenName: 'Changed' } },
    },
    { as: 'g', send: ['POST', '/Groups', { schemas: [group], displayName: 'JumpCloud test group', members: [] }], status: 201 },
    { send: ['PATCH', '/Groups/{g}', ops({ op: 'add', path: 'members', value: [{ value: '{t}' }] })], status: 204 },
    // By a list, as Entra ID does.
    { send: ['PATCH', '/Groups/{g}', ops({ op: 'remove', path: 'members', value: [{ value: '{t}' }] })], status: 204 },
    { send: ['GET', '/Groups/{g}'], status: 200, has: { members: [] } },
    { send: ['PATCH', '/Groups/{g}', ops({ op: 'replace', value: { id: '{g}', displayName: 'Renamed' } })], status: 204 },
    { send: ['DELETE', '/Groups/{g}'], status: 204 },
    // Where a server cannot delete, it switches off.
    { send: ['PATCH', '/Users/{t}', ops({ op: 'replace', path: 'active', value: false })], status: 200, has: { active: false } },
    { send: ['DELETE', '/Users/{t}'], status: 204 },
    { send: ['GET', '/Users/{t}'], status: 404 },
  ],
}

/** Ping Identity: "SCIM Provisioner settings reference" of PingFederate and PingOne: finds by name or by email, replaces or patches, disables or deletes. */
const ping: Dialogue = {
  userAgent: 'Apache-HttpClient/4.5.13 (Java/11.0.20)',
  steps: [
    { send: ['GET', '/ServiceProviderConfig'], status: 200, has: { patch: { supported: true } } },
    { send: ['GET', '/Users?filter=userName eq "pat"'], status: 200, has: { totalResults: 0 } },
    { send: ['GET', '/Users?filter=emails eq "pat@acme.example"'], status: 200, has: { totalResults: 0 } },
    {
      as: 'u',
      send: [
        'POST',
        '/Users',
        {
          schemas: [user, enterprise],
          userName: 'pat',
          name: { formatted: 'Pat Ping', givenName: 'Pat', familyName: 'Ping' },
          emails: [{ type: 'work', value: 'pat@acme.example', primary: true }],
          phoneNumbers: [{ type: 'work', value: '+1 555 0101' }],
          externalId: 'ping-1',
          active: true,
          [enterprise]: { department: 'IT' },
        },
      ],
      status: 201,
    },
    {
      send: ['GET', '/Users?filter=emails eq "pat@acme.example"'],
      status: 200,
      has: { totalResults: 1, Resources: [{ id: '{u}', userName: 'pat' }] },
    },
    {
      send: [
        'PUT',
        '/Users/{u}',
        {
          schemas: [user, enterprise],
          id: '{u}',
          userName: 'pat',
          name: { givenName: 'Patricia', familyName: 'Ping' },
          emails: [{ type: 'work', value: 'pat@acme.example', primary: true }],
          externalId: 'ping-1',
          active: true,
          [enterprise]: { department: 'Sales' },
        },
      ],
      status: 200,
      has: { name: { givenName: 'Patricia' }, [enterprise]: { department: 'Sales' } },
    },
    { send: ['GET', '/Groups?filter=displayName eq "Ping admins"'], status: 200, has: { totalResults: 0 } },
    { as: 'g', send: ['POST', '/Groups', { schemas: [group], displayName: 'Ping admins', members: [{ value: '{u}' }] }], status: 201 },
    // Overwritten as a whole, or merged: an option of the connection.
    { send: ['PUT', '/Groups/{g}', { schemas: [group], displayName: 'Ping admins', members: [{ value: '{u}' }] }], status: 200 },
    { send: ['PATCH', '/Groups/{g}', ops({ op: 'add', path: 'members', value: [{ value: '{u}', display: 'pat' }] })], status: 204 },
    {
      send: ['PUT', '/Users/{u}', { schemas: [user], userName: 'pat', emails: [{ value: 'pat@acme.example' }], active: false }],
      status: 200,
      has: { active: false },
    },
    { send: ['DELETE', '/Users/{u}'], status: 204 },
    { send: ['GET', '/Groups/{g}'], status: 200, has: { members: [] } },
  ],
}

/** Rippling: "User Management via SCIM" with pagination and PATCH of groups: reads all of it first, and may send a new user twice. */
const rippling: Dialogue = {
  userAgent: 'python-requests/2.31.0',
  accept: '*/*',
  steps: [
    { send: ['GET', '/Users?startIndex=1&count=100'], status: 200, has: { startIndex: 1, Resources: [] } },
    { send: ['GET', '/Groups?startIndex=1&count=100'], status: 200, has: { totalResults: 0, Resources: [] } },
    {
      as: 'u',
      send: [
        'POST',
        '/Users',
        {
          schemas: [user, enterprise],
          externalId: 'rippling-1',
          userName: 'ria@acme.example',
          name: { givenName: 'Ria', familyName: 'Ling' },
          emails: [{ primary: true, value: 'ria@acme.example' }],
          [enterprise]: { employeeNumber: '17' },
        },
      ],
      status: 201,
      has: { active: true, externalId: 'rippling-1' },
    },
    {
      send: [
        'POST',
        '/Users',
        { schemas: [user], externalId: 'rippling-1', userName: 'ria@acme.example', emails: [{ value: 'ria@acme.example' }] },
      ],
      status: 409,
      has: { scimType: 'uniqueness' },
    },
    { as: 'g', send: ['POST', '/Groups', { schemas: [group], displayName: 'Engineering' }], status: 201 },
    { send: ['PATCH', '/Groups/{g}', ops({ op: 'add', path: 'members', value: [{ value: '{u}' }] })], status: 204 },
    { send: ['PATCH', '/Groups/{g}', ops({ op: 'replace', path: 'members', value: [{ value: '{u}' }] })], status: 204 },
    {
      send: ['PATCH', '/Users/{u}', ops({ op: 'replace', path: 'name', value: { givenName: 'Maria', familyName: 'Ling' } })],
      status: 200,
      has: { name: { givenName: 'Maria' } },
    },
    { send: ['PATCH', '/Users/{u}', ops({ op: 'replace', path: 'active', value: false })], status: 200, has: { active: false } },
    { send: ['GET', '/Users?startIndex=1&count=100'], status: 200, has: { totalResults: 1, Resources: [{ active: false }] } },
    { send: ['DELETE', '/Users/{u}'], status: 204 },
    { send: ['DELETE', '/Groups/{g}'], status: 204 },
  ],
}

/** Google Workspace: "Automated user provisioning". It sends general JSON and no groups; it suspends by `active`, and deletes after some days. */
const google: Dialogue = {
  userAgent: 'Google-Auto-Provisioning',
  contentType: 'application/json',
  steps: [
    { send: ['GET', '/Users?count=1'], status: 200, has: { Resources: [] } },
    { send: ['GET', '/Users?filter=userName eq "g@acme.example"'], status: 200, has: { totalResults: 0 } },
    {
      as: 'u',
      send: [
        'POST',
        '/Users',
        {
          schemas: [user],
          userName: 'g@acme.example',
          name: { givenName: 'G', familyName: 'Suite', formatted: 'G Suite' },
          emails: [{ value: 'g@acme.example', type: 'work', primary: true }],
          phoneNumbers: [],
          addresses: [],
          externalId: '108472',
          active: true,
        },
      ],
      status: 201,
    },
    { send: ['GET', '/Users?filter=userName eq "G@acme.example"'], status: 200, has: { totalResults: 1 } },
    { send: ['PATCH', '/Users/{u}', ops({ op: 'replace', path: 'title', value: 'Lead' })], status: 200, has: { title: 'Lead' } },
    {
      send: [
        'PATCH',
        '/Users/{u}',
        ops({ op: 'replace', path: 'emails', value: [{ value: 'g@acme.example', type: 'work', primary: true }] }),
      ],
      status: 200,
    },
    { send: ['PATCH', '/Users/{u}', ops({ op: 'replace', path: 'active', value: false })], status: 200, has: { active: false } },
    { send: ['PATCH', '/Users/{u}', ops({ op: 'replace', path: 'active', value: true })], status: 200, has: { active: true } },
    { send: ['DELETE', '/Users/{u}'], status: 204 },
  ],
}

export const dialogues: Readonly<Record<string, Dialogue>> = {
  'Entra ID': entra,
  Okta: okta,
  OneLogin: oneLogin,
  JumpCloud: jumpCloud,
  'Ping Identity': ping,
  Rippling: rippling,
  Google: google,
}
