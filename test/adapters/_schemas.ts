/** Databases as Auth.js documents them for its published adapters: what hosts have who come from there. */
import { sql } from 'kysely'
import { newDatabase, type SqlSpec, openOutside } from './_stores.ts'

/** A documented schema. */
export interface Schema {
  name: string
  kind: SqlSpec['kind']
  statements: readonly string[]
}

/** A database of a schema, without rows. */
export async function makeDatabase({ kind, statements }: Pick<Schema, 'kind' | 'statements'>): Promise<SqlSpec> {
  const spec = await newDatabase(kind)
  const db = openOutside(spec)
  for (const statement of statements) await sql.raw(statement).execute(db)
  await db.destroy()
  return spec
}

const fields = (text: string, integer: string): string =>
  `refresh_token ${text}, access_token ${text}, expires_at ${integer}, token_type ${text}, scope ${text}, id_token ${text}, session_state ${text}`

/** The tables of an adapter whose names are quoted with `q`, and whose types differ. */
function tables(options: {
  q: string
  names: [users: string, accounts: string, sessions: string, tokens: string, authenticators?: string]
  id: string
  ref: string
  text: string
  long: string
  date: string
  integer: string
  boolean: string
  email: string
  rowIds?: string
  accountKey?: boolean
  tokenKey?: string
  cascade: boolean
}): string[] {
  const { q, names, id, ref, text, long, date, integer, boolean, email, rowIds, accountKey, tokenKey, cascade } = options
  const [users, accounts, sessions, tokens, authenticators] = names.map((name) => name && `${q}${name}${q}`)
  const c = (name: string): string => `${q}${name}${q}`
  const row = rowIds ? `id ${rowIds}, ` : ''
  const owner = cascade ? `, foreign key (${c('userId')}) references ${users} (id) on delete cascade` : ''
  return [
    `create table ${users} (id ${id}, name ${text}, ${c('email')} ${email}, ${c('emailVerified')} ${date}, image ${text})`,
    `create table ${accounts} (${row}${c('userId')} ${ref} not null, type ${text} not null, provider ${text} not null,
      ${c('providerAccountId')} ${text} not null, ${fields(long, integer)}
      ${accountKey ? `, primary key (provider, ${c('providerAccountId')})` : ''}${owner})`,
    `create table ${sessions} (${row}${c('sessionToken')} ${text} not null unique, ${c('userId')} ${ref} not null, expires ${date} not null${owner})`,
    `create table ${tokens} (identifier ${text} not null, token ${text} not null, expires ${date} not null, ${tokenKey ?? 'primary key (identifier, token)'})`,
    ...(authenticators
      ? [
          `create table ${authenticators} (${c('credentialID')} ${text} not null unique, ${c('userId')} ${ref} not null,
            ${c('providerAccountId')} ${text} not null, ${c('credentialPublicKey')} ${text} not null, counter ${integer} not null,
            ${c('credentialDeviceType')} ${text} not null, ${c('credentialBackedUp')} ${boolean} not null, transports ${text},
            primary key (${c('userId')}, ${c('credentialID')})${owner})`,
        ]
      : []),
  ]
}

const drizzle = ['user', 'account', 'session', 'verificationToken', 'authenticator'] as [string, string, string, string, string]
const prisma = ['User', 'Account', 'Session', 'VerificationToken', 'Authenticator'] as [string, string, string, string, string]
const kysely = ['User', 'Account', 'Session', 'VerificationToken'] as [string, string, string, string]

export const pgSchema: Schema = {
  name: '@auth/pg-adapter on PostgreSQL',
  kind: 'postgres',
  statements: [
    'create table verification_token (identifier text not null, expires timestamptz not null, token text not null, primary key (identifier, token))',
    `create table accounts (id serial primary key, "userId" integer not null, type varchar(255) not null, provider varchar(255) not null,
      "providerAccountId" varchar(255) not null, ${fields('text', 'bigint')})`,
    'create table sessions (id serial primary key, "userId" integer not null, expires timestamptz not null, "sessionToken" varchar(255) not null)',
    'create table users (id serial primary key, name varchar(255), email varchar(255), "emailVerified" timestamptz, image text)',
  ],
}
export const kyselyPostgres: Schema = {
  name: '@auth/kysely-adapter on PostgreSQL',
  kind: 'postgres',
  statements: tables({
    q: '"',
    names: kysely,
    id: 'uuid primary key default gen_random_uuid()',
    ref: 'uuid',
    text: 'text',
    long: 'text',
    date: 'timestamptz',
    integer: 'bigint',
    boolean: 'boolean',
    email: 'text not null unique',
    rowIds: 'uuid primary key default gen_random_uuid()',
    tokenKey: 'unique (token)',
    cascade: true,
  }),
}
export const kyselySqlite: Schema = {
  name: '@auth/kysely-adapter on SQLite',
  kind: 'libsql',
  statements: tables({
    q: '"',
    names: kysely,
    id: 'text primary key',
    ref: 'text',
    text: 'text',
    long: 'text',
    date: 'text',
    integer: 'integer',
    boolean: 'integer',
    email: 'text not null unique',
    rowIds: 'text',
    tokenKey: 'unique (token)',
    cascade: true,
  }),
}
export const kyselyMysql: Schema = {
  name: '@auth/kysely-adapter on MySQL',
  kind: 'mysql',
  statements: tables({
    q: '`',
    names: kysely,
    id: 'varchar(36) primary key default (uuid())',
    ref: 'varchar(36)',
    text: 'varchar(255)',
    long: 'varchar(255)',
    date: 'datetime(3)',
    integer: 'bigint',
    boolean: 'boolean',
    email: 'varchar(255) not null unique',
    rowIds: 'varchar(36) primary key default (uuid())',
    cascade: true,
  }).map((statement) => statement.replace(/(emailVerified` datetime\(3\))/, '$1 null')),
}
export const drizzleSqlite: Schema = {
  name: '@auth/drizzle-adapter on SQLite',
  kind: 'libsql',
  statements: tables({
    q: '"',
    names: drizzle,
    id: 'text primary key',
    ref: 'text',
    text: 'text',
    long: 'text',
    date: 'integer',
    integer: 'integer',
    boolean: 'integer',
    email: 'text unique',
    accountKey: true,
    cascade: true,
  }),
}
export const drizzlePostgres: Schema = {
  name: '@auth/drizzle-adapter on PostgreSQL',
  kind: 'postgres',
  statements: tables({
    q: '"',
    names: drizzle,
    id: 'text primary key',
    ref: 'text',
    text: 'text',
    long: 'text',
    date: 'timestamp',
    integer: 'integer',
    boolean: 'boolean',
    email: 'text unique',
    accountKey: true,
    cascade: true,
  }),
}
export const drizzleMysql: Schema = {
  name: '@auth/drizzle-adapter on MySQL',
  kind: 'mysql',
  statements: tables({
    q: '`',
    names: drizzle,
    id: 'varchar(255) primary key',
    ref: 'varchar(255)',
    text: 'varchar(255)',
    long: 'varchar(255)',
    date: 'timestamp(3) null',
    integer: 'int',
    boolean: 'boolean',
    email: 'varchar(255) unique',
    accountKey: true,
    cascade: true,
  }).map((statement) => statement.replaceAll('null not null', 'not null default current_timestamp(3)')),
}
/** As Prisma's migrations make it of the documented models. */
export const prismaPostgres: Schema = {
  name: '@auth/prisma-adapter on PostgreSQL',
  kind: 'postgres',
  statements: [
    ...tables({
      q: '"',
      names: prisma,
      id: 'text primary key',
      ref: 'text',
      text: 'text',
      long: 'text',
      date: 'timestamp(3)',
      integer: 'integer',
      boolean: 'boolean',
      email: 'text not null unique',
      accountKey: true,
      cascade: true,
    }),
    ...['User', 'Account', 'Session'].map(
      (table) =>
        `alter table "${table}" add column "createdAt" timestamp(3) not null default current_timestamp, add column "updatedAt" timestamp(3) not null default current_timestamp`,
    ),
  ],
}
/** What TypeORM makes of the entities: dates as digits in text. */
export const typeormPostgres: Schema = {
  name: '@auth/typeorm-adapter on PostgreSQL',
  kind: 'postgres',
  statements: [
    'create extension if not exists "uuid-ossp"',
    ...tables({
      q: '"',
      names: ['users', 'accounts', 'sessions', 'verification_tokens'],
      id: 'uuid primary key default uuid_generate_v4()',
      ref: 'uuid',
      text: 'varchar',
      long: 'varchar',
      date: 'varchar',
      integer: 'bigint',
      boolean: 'boolean',
      email: 'varchar unique',
      rowIds: 'uuid primary key default uuid_generate_v4()',
      tokenKey: 'id uuid primary key default uuid_generate_v4()',
      cascade: false,
    }),
  ],
}
/** What Sequelize makes of the models: snake case, ids made by the program. */
export const sequelizePostgres: Schema = {
  name: '@auth/sequelize-adapter on PostgreSQL',
  kind: 'postgres',
  statements: [
    'create table users (id uuid primary key, name varchar(255), email varchar(255) unique, email_verified timestamptz, image varchar(255))',
    `create table accounts (id uuid primary key, type varchar(255) not null, provider varchar(255) not null, provider_account_id varchar(255) not null,
      refresh_token varchar(255), access_token varchar(255), expires_at integer, token_type varchar(255), scope varchar(255), id_token text,
      session_state varchar(255), user_id uuid references users (id) on delete cascade on update cascade)`,
    `create table sessions (id uuid primary key, expires timestamptz not null, session_token varchar(255) not null unique,
      user_id uuid references users (id) on delete cascade on update cascade)`,
    'create table verification_tokens (token varchar(255) primary key, identifier varchar(255) not null, expires timestamptz not null)',
  ],
}

export const schemas: readonly Schema[] = [
  pgSchema,
  kyselyPostgres,
  kyselySqlite,
  kyselyMysql,
  drizzleSqlite,
  drizzlePostgres,
  drizzleMysql,
  prismaPostgres,
  typeormPostgres,
  sequelizePostgres,
]
