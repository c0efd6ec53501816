/** Exports of services, in the formats of their documentation, with hashes that the algorithm of each has made of known passwords. */
import { createCipheriv, pbkdf2Sync, scryptSync } from 'node:crypto'
import { hashSync } from '@node-rs/argon2'
import bcrypt from 'bcryptjs'
import type { FirebaseParameters } from 'authkernel/plugins/passwords'

export const typed = 'seven purple otters sing'
export const weak = '5f4dcc3b5aa765d61d8327deb882cf99'
export const totpSecret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'
export const firebaseKey: FirebaseParameters = {
  signerKey: Buffer.from('the signer key of the project').toString('base64'),
  saltSeparator: 'Bw==',
  rounds: 8,
  memCost: 14,
}

/** What each fixture says of Ada, who has everything, Eve, whose address is not verified, and Bob, whose password cannot come. */
export interface Fixture {
  files: string[]
  ids: { ada: string; eve: string; bob: string }
  /** Kinds of problems that stop the first run. */
  problems: string[]
  /** What Ada has beside a password. */
  account?: [provider: string, id: string]
  ban?: boolean
  totp?: boolean
}

export const bcryptOf = (password: string): string => bcrypt.hashSync(password, 4)
const argon = (password: string): string => hashSync(password, { algorithm: 2, memoryCost: 7168, timeCost: 5, parallelism: 1 })
const base64 = (data: Buffer): string => data.toString('base64')
const lines = (rows: readonly object[]): string => rows.map((row) => JSON.stringify(row)).join('\n')
const csv = (rows: readonly Readonly<Record<string, string>>[]): string => {
  const names = Object.keys(rows[0]!)
  return [names.join(','), ...rows.map((row) => names.map((name) => `"${(row[name] ?? '').replaceAll('"', '""')}"`).join(','))].join('\r\n')
}

function firebaseHash(password: string, salt: Buffer): string {
  const key = scryptSync(password, Buffer.concat([salt, Buffer.from(firebaseKey.saltSeparator, 'base64')]), 32, {
    N: 2 ** 14,
    r: 8,
    p: 1,
    maxmem: 67_108_864,
  })
  const cipher = createCipheriv('aes-256-ctr', key, Buffer.alloc(16))
  return Buffer.concat([cipher.update(Buffer.from(firebaseKey.signerKey, 'base64')), cipher.final()]).toString('base64url')
}

function keycloakPassword(algorithm: 'pbkdf2-sha512' | 'argon2' | 'md5'): object {
  const salt = Buffer.from('00112233445566778899aabbccddeeff', 'hex')
  if (algorithm === 'pbkdf2-sha512') {
    const value = base64(pbkdf2Sync(typed, salt, 21_000, 64, 'sha512'))
    return {
      type: 'password',
      secretData: JSON.stringify({ value, salt: base64(salt), additionalParameters: {} }),
      credentialData: JSON.stringify({ hashIterations: 21_000, algorithm, additionalParameters: {} }),
    }
  }
  const [, , , , saltText = '', hash = ''] = argon(typed).split('$')
  return {
    type: 'password',
    secretData: JSON.stringify({ value: hash, salt: saltText, additionalParameters: {} }),
    credentialData: JSON.stringify({
      hashIterations: 5,
      algorithm,
      additionalParameters: { hashLength: ['32'], memory: ['7168'], type: ['id'], version: ['1.3'], parallelism: ['1'] },
    }),
  }
}

/** A fixture of each service. `name` is that of Ada, so that a second export can differ. */
export const fixtures: Readonly<Record<string, (name?: string) => Fixture>> = {
  clerk(name = 'Ada') {
    const row = (id: string, more: Record<string, string>) => ({
      id,
      first_name: '',
      last_name: 'L',
      username: '',
      primary_email_address: '',
      primary_phone_number: '',
      verified_email_addresses: '',
      unverified_email_addresses: '',
      verified_phone_numbers: '',
      unverified_phone_numbers: '',
      totp_secret: '',
      password_digest: '',
      password_hasher: '',
      ...more,
    })
    const file = csv([
      row('user_ada', {
        first_name: name,
        primary_email_address: 'Ada@example.com',
        verified_email_addresses: 'Ada@example.com',
        totp_secret: totpSecret,
        password_digest: bcryptOf(typed),
        password_hasher: 'bcrypt',
      }),
      row('user_eve', {
        primary_email_address: 'eve@example.com',
        unverified_email_addresses: 'eve@example.com',
        password_digest: bcryptOf(typed),
        password_hasher: 'bcrypt',
      }),
      row('user_bob', {
        primary_email_address: 'bob@example.com',
        verified_email_addresses: 'bob@example.com',
        password_digest: weak,
        password_hasher: 'md5',
      }),
    ])
    const api = lines([
      {
        object: 'user',
        id: 'user_ada',
        primary_email_address_id: 'idn_1',
        email_addresses: [{ id: 'idn_1', email_address: 'ada@example.com', verification: { status: 'verified' } }],
        first_name: name,
        last_name: 'L',
        external_accounts: [{ provider: 'oauth_google', provider_user_id: 'g-1', verification: { status: 'verified' } }],
        banned: false,
        password_enabled: true,
      },
    ])
    return {
      files: [file, api],
      ids: { ada: 'user_ada', eve: 'user_eve', bob: 'user_bob' },
      problems: ['weak-passwords'],
      account: ['google', 'g-1'],
      totp: true,
    }
  },
  auth0(name = 'Ada') {
    const user = (id: string, email: string, verified: boolean, more: object = {}) => ({
      user_id: `auth0|${id}`,
      email,
      email_verified: verified,
      name,
      identities: [{ connection: 'Username-Password-Authentication', provider: 'auth0', user_id: id, isSocial: false }],
      ...more,
    })
    const ada = user('5dea9f9c82dd7c0e76e4ec93', 'ada@example.com', true, {
      identities: [
        { provider: 'auth0', user_id: '5dea9f9c82dd7c0e76e4ec93' },
        { provider: 'google-oauth2', user_id: 'g-1', isSocial: true },
      ],
    })
    const users = lines([ada, user('euclid', 'eve@example.com', false), user('bob', 'bob@example.com', true)])
    const hash = (oid: string, email: string, verified: boolean, passwordHash: string, more: object = {}) => ({
      _id: { $oid: oid },
      email,
      email_verified: verified,
      passwordHash,
      password_set_date: { $date: '2019-12-06T18:36:12.412Z' },
      tenant: 'example',
      connection: 'Username-Password-Authentication',
      _tmp_is_unique: true,
      ...more,
    })
    const hashes = lines([
      hash('5dea9f9c82dd7c0e76e4ec93', 'ada@example.com', true, bcryptOf(typed)),
      hash('5dea9f9c82dd7c0e76e4ec94', 'eve@example.com', false, bcryptOf(typed), { alt_id: 'euclid' }),
      hash('bob', 'bob@example.com', true, weak),
    ])
    return {
      files: [users, hashes],
      ids: { ada: 'auth0|5dea9f9c82dd7c0e76e4ec93', eve: 'auth0|euclid', bob: 'auth0|bob' },
      problems: ['weak-passwords'],
      account: ['google', 'g-1'],
    }
  },
  supabase(name = 'Ada') {
    const user = (id: string, email: string, more: object) => ({
      id: `00000000-0000-4000-8000-00000000000${id}`,
      email,
      encrypted_password: bcryptOf(typed),
      email_confirmed_at: '2024-05-01T10:00:00Z',
      raw_user_meta_data: { full_name: name },
      raw_app_meta_data: { provider: 'email', providers: ['email'] },
      ...more,
    })
    const file = lines([
      user('1', 'ada@example.com', {
        identities: [
          { provider: 'email', provider_id: '00000000-0000-4000-8000-000000000001' },
          { provider: 'google', provider_id: 'g-1', identity_data: { sub: 'g-1' } },
        ],
        mfa_factors: [{ factor_type: 'totp', status: 'verified', secret: totpSecret }],
        banned_until: '2999-01-01T00:00:00Z',
      }),
      user('2', 'eve@example.com', { email_confirmed_at: null }),
      user('3', 'bob@example.com', { encrypted_password: weak }),
    ])
    const id = (last: string): string => `00000000-0000-4000-8000-00000000000${last}`
    return {
      files: [file],
      ids: { ada: id('1'), eve: id('2'), bob: id('3') },
      problems: ['weak-passwords'],
      account: ['google', 'g-1'],
      totp: true,
      ban: true,
    }
  },
  firebase(name = 'Ada') {
    const salt = Buffer.from('42xEC+ixf3L2lw==', 'base64')
    const user = (localId: string, email: string, emailVerified: boolean, more: object = {}) => ({
      localId,
      email,
      emailVerified,
      passwordHash: firebaseHash(typed, salt),
      salt: salt.toString('base64url'),
      lastSignedInAt: '1700000000000',
      createdAt: '1600000000000',
      displayName: name,
      disabled: false,
      providerUserInfo: [],
      ...more,
    })
    const users = [
      user('fAda', 'ada@example.com', true, { providerUserInfo: [{ providerId: 'google.com', rawId: 'g-1', email: 'ada@example.com' }] }),
      user('fEve', 'eve@example.com', false),
      user('fBob', 'bob@example.com', true, { salt: undefined }),
    ]
    return {
      files: [JSON.stringify({ users }, null, 2)],
      ids: { ada: 'fAda', eve: 'fEve', bob: 'fBob' },
      problems: ['unknown-hashes'],
      account: ['google', 'g-1'],
    }
  },
  cognito(name = 'Ada') {
    const user = (sub: string, email: string, verified: string, more: object[] = []) => ({
      Username: sub,
      Attributes: [
        { Name: 'sub', Value: sub },
        { Name: 'email', Value: email },
        { Name: 'email_verified', Value: verified },
        { Name: 'name', Value: name },
        ...more,
      ],
      UserCreateDate: '2023-01-01T00:00:00.000Z',
      Enabled: true,
      UserStatus: 'CONFIRMED',
    })
    const identities = JSON.stringify([{ userId: 'g-1', providerName: 'Google', providerType: 'Google', primary: 'false' }])
    const Users = [
      user('c-ada', 'ada@example.com', 'true', [{ Name: 'identities', Value: identities }]),
      user('c-eve', 'eve@example.com', 'false'),
      user('c-bob', 'bob@example.com', 'true'),
    ]
    return {
      files: [JSON.stringify({ Users })],
      ids: { ada: 'c-ada', eve: 'c-eve', bob: 'c-bob' },
      problems: ['passwords-not-exported'],
      account: ['google', 'g-1'],
    }
  },
  workos(name = 'Ada') {
    const user = (id: string, email: string, verified: boolean, more: object = {}) => ({
      object: 'user',
      id,
      email,
      email_verified: verified,
      first_name: name,
      last_name: 'L',
      ...more,
    })
    const data = [
      user('user_01A', 'ada@example.com', true, {
        password_hash: argon(typed),
        identities: [{ type: 'OAuth', provider: 'GoogleOAuth', idp_id: 'g-1' }],
      }),
      user('user_01E', 'eve@example.com', false, { password_hash: argon(typed) }),
      user('user_01B', 'bob@example.com', true),
    ]
    return {
      files: [JSON.stringify({ data, list_metadata: { after: null } })],
      ids: { ada: 'user_01A', eve: 'user_01E', bob: 'user_01B' },
      problems: ['passwords-not-exported'],
      account: ['google', 'g-1'],
    }
  },
  supertokens(name = 'Ada') {
    const user = (id: string, email: string, isVerified: boolean, passwordHash: string, more: object[] = []) => ({
      externalUserId: id,
      userMetadata: { first_name: name },
      userRoles: [],
      totpDevices: id === 's-ada' ? [{ secretKey: totpSecret, period: 30, skew: 1, deviceName: 'phone' }] : [],
      loginMethods: [
        { recipeId: 'emailpassword', email, isVerified, isPrimary: true, passwordHash, hashingAlgorithm: 'bcrypt', tenantIds: ['public'] },
        ...more,
      ],
    })
    const google = { recipeId: 'thirdparty', thirdPartyId: 'google', thirdPartyUserId: 'g-1', email: 'ada@example.com', isVerified: true }
    const users = [
      user('s-ada', 'ada@example.com', true, bcryptOf(typed), [google]),
      user('s-eve', 'eve@example.com', false, bcryptOf(typed)),
      user('s-bob', 'bob@example.com', true, weak),
    ]
    return {
      files: [JSON.stringify({ users })],
      ids: { ada: 's-ada', eve: 's-eve', bob: 's-bob' },
      problems: ['weak-passwords'],
      account: ['google', 'g-1'],
      totp: true,
    }
  },
  lucia(name = 'Ada') {
    const scrypt = (salt: string): string => scryptSync(typed, salt, 64, { N: 16_384, r: 16, p: 1, maxmem: 67_108_864 }).toString('hex')
    const key = (id: string, salt: string) => ({ id, hashed_password: `s2:${salt}:${scrypt(salt)}` })
    const file = lines([
      {
        id: 'l-ada',
        name,
        email_verified: true,
        keys: [key('email:ada@example.com', 'k3jd92ka01mz7xq4'), { id: 'google:g-1', hashed_password: null }],
      },
      { id: 'l-eve', name, email_verified: 0, keys: [key('email:eve@example.com', 'k3jd92ka01mz7xq5')] },
      { id: 'l-bob', name, email: 'bob@example.com', email_verified: 1, password_hash: weak },
    ])
    return {
      files: [file],
      ids: { ada: 'l-ada', eve: 'l-eve', bob: 'l-bob' },
      problems: ['weak-passwords'],
      account: ['google', 'g-1'],
    }
  },
  passport(name = 'Ada') {
    const salt = Buffer.from('00112233445566778899aabbccddeeff', 'hex')
    const tutorial = { hashed_password: pbkdf2Sync(typed, salt, 310_000, 32, 'sha256'), salt }
    const mongoose = { hash: pbkdf2Sync(typed, 'ab'.repeat(32), 25_000, 512, 'sha256').toString('hex'), salt: 'ab'.repeat(32) }
    const file = lines([
      {
        id: 1,
        username: 'ada@example.com',
        name,
        email_verified: true,
        ...tutorial,
        federated_credentials: [{ provider: 'https://accounts.google.com', subject: 'g-1' }],
      },
      { _id: { $oid: '507f1f77bcf86cd799439011' }, username: 'eve@example.com', ...mongoose },
      { id: 3, username: 'bob@example.com', email_verified: true, password: weak },
    ])
    return {
      files: [file],
      ids: { ada: '1', eve: '507f1f77bcf86cd799439011', bob: '3' },
      problems: ['weak-passwords'],
      account: ['google', 'g-1'],
    }
  },
  keycloak(name = 'Ada') {
    const otp = {
      type: 'otp',
      // The letters that Keycloak stores; apps show the base32 of them.
      secretData: JSON.stringify({ value: 'Hello!\u00de'.slice(0, 6) + 'otterotter' }),
      credentialData: JSON.stringify({ subType: 'totp', digits: 6, counter: 0, period: 30, algorithm: 'HmacSHA1' }),
    }
    const users = [
      {
        id: 'k-ada',
        username: 'ada',
        firstName: name,
        email: 'ada@example.com',
        emailVerified: true,
        enabled: true,
        credentials: [keycloakPassword('argon2'), otp],
        federatedIdentities: [{ identityProvider: 'google', userId: 'g-1', userName: 'ada' }],
        realmRoles: ['default-roles-demo'],
      },
      {
        id: 'k-eve',
        username: 'eve@example.com',
        email: 'eve@example.com',
        emailVerified: false,
        enabled: true,
        credentials: [keycloakPassword('pbkdf2-sha512')],
      },
      {
        id: 'k-bob',
        username: 'bob@example.com',
        email: 'bob@example.com',
        emailVerified: true,
        enabled: false,
        credentials: [
          {
            type: 'password',
            secretData: JSON.stringify({ value: 'XUE=', salt: '' }),
            credentialData: JSON.stringify({ hashIterations: 1, algorithm: 'md5' }),
          },
        ],
      },
    ]
    return {
      files: [JSON.stringify({ realm: 'demo', users }, null, 1)],
      ids: { ada: 'k-ada', eve: 'k-eve', bob: 'k-bob' },
      problems: ['unknown-hashes'],
      account: ['google', 'g-1'],
      totp: true,
    }
  },
}
