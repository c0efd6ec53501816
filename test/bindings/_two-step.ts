/** A stranger's plugin with client methods, as docs/writing-a-plugin.md describes it, and a host that uses it. */
import { type Auth, type ClientPart, createAuth, type Session } from 'authkernel'
import { clientMethod, clientMethods, CredentialsSignin, json, type Plugin } from 'authkernel/kernel'

declare module 'authkernel' {
  interface Session {
    plan?: 'free' | 'paid'
  }
}

class WrongCode extends CredentialsSignin {
  override code = 'wrong_code'
}
const asCode = (sent: unknown): { code: string } => {
  const { code } = Object(sent) as { code?: unknown }
  if (typeof code !== 'string' || !/^\d{6}$/.test(code)) throw new TypeError('not six digits')
  return { code }
}
/** What any library of schemas has. */
const noteSchema = {
  '~standard': {
    validate(value: unknown): { value: { text: string; stars: number } } | { issues: { message: string; path: string[] }[] } {
      const { text, stars } = Object(value) as { text?: unknown; stars?: unknown }
      return typeof text === 'string' && typeof stars === 'number'
        ? { value: { text, stars } }
        : { issues: [{ message: 'Write a text.', path: ['text'] }] }
    },
  },
}

interface Note {
  text: string
  stars: number
}
/** `client.twoStep`. Written out, because this repository compiles with isolatedDeclarations; else it is inferred (test/types/client.test-d.ts). */
interface TwoStepClient {
  verify(input: { code: string }): Promise<{ verifiedAt: string; codes: string[] }>
  getStatus(): Promise<{ on: boolean; who: string | null }>
  findNote(input: Note): Promise<Note>
  listNotes(input: Note): Promise<Note[]>
  leave(): Promise<{ url: string }>
  forget(): Promise<null>
  raw(): Promise<unknown>
  fail(): Promise<unknown>
}
type Ext = { twoStep: { secretOfTheServer: string } } & ClientPart<{ twoStep: TwoStepClient }>

export function twoStepPlugin(): Plugin<Ext> {
  return {
    name: 'two-step',
    setup: (kernel) => ({
      twoStep: { secretOfTheServer: 'server-only-text' },
      ...clientMethods(kernel, 'twoStep', {
        verify: clientMethod(asCode, (_ctx, { code }) => {
          if (code !== '123456') throw new WrongCode('server-only-message')
          return { verifiedAt: new Date(0), codes: ['a', 'b'] }
        }),
        getStatus: clientMethod(async (ctx) => ({ on: true, who: (await ctx.currentSession())?.user?.name ?? null })),
        findNote: clientMethod(noteSchema, (_ctx, { text, stars }) => ({ text, stars: stars + 1 })),
        listNotes: clientMethod(noteSchema, (_ctx, note) => [note]),
        leave: clientMethod((ctx) => ctx.redirect('/bye')),
        forget: clientMethod(() => {}),
        raw: clientMethod(() => json({ any: 'thing' }, 201)),
        fail: clientMethod(() => {
          throw new Error('server-only-message')
        }),
      }),
    }),
  }
}

export const auth: Auth<Ext> = createAuth({
  secret: 'a secret of more than thirty-two characters',
  origin: 'https://app.example',
  env: false,
  logger: { error: () => {}, warn: () => {}, debug: () => {} },
  providers: [{ id: 'pw', name: 'Password', type: 'credentials', authorize: () => ({ id: '1', name: 'Ada' }) }],
  callbacks: { session: ({ session }): Session => ({ ...session, plan: 'paid' }) },
}).use(twoStepPlugin())
