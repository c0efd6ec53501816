/** Components without styles: they draw what the server offers. Style them by their elements, `data-part` and `data-provider`. */
import {
  addPasskey,
  type Choice,
  type ChoiceField,
  type Client,
  partTexts,
  type PartTexts,
  signInChoices,
  submitChoice,
} from 'authkernel/client'
import { createElement as h, type FormEvent, type FunctionComponent, type ReactNode, useEffect, useId, useState } from 'react'
import { useAuthClient, useSession } from './session.ts'

/** Properties of every part. */
export interface PartProps {
  /** Replaces single texts. Give the same object each time: a new one asks the server again. */
  texts?: Partial<PartTexts> | undefined
}
/** Properties of `SignInForm`. */
export interface SignInFormProps extends PartProps {
  /** Where to go afterwards; default: this page. */
  redirectTo?: string | undefined
}
/** Properties of `UserButton`. */
export interface UserButtonProps extends PartProps {
  /** Address of the account page; without it there is no link to one. */
  accountUrl?: string | undefined
}

/** A form for each way to sign in that the server offers. */
export const SignInForm: FunctionComponent<SignInFormProps> = ({ redirectTo, texts: own }) => {
  const client = useAuthClient()
  const texts = partTexts(own)
  const [choices, failure] = useChoices(client, own)
  return h(
    'div',
    { 'data-part': 'sign-in-form', 'aria-busy': choices === undefined && failure === undefined },
    failure !== undefined && h('p', { role: 'alert' }, failure),
    choices?.map((choice) => h(ChoiceForm, { key: choice.id, choice, client, texts, redirectTo })),
  )
}

/** Who is signed in, with a way to the account page and out; else a button that leads to the sign-in page. */
export const UserButton: FunctionComponent<UserButtonProps> = ({ accountUrl, texts: own }) => {
  const { status, session, signIn, signOut } = useSession()
  const texts = partTexts(own)
  if (status === 'loading') return h('div', { 'data-part': 'user-button', 'aria-busy': true })
  if (status === 'unauthenticated')
    return h('button', { 'data-part': 'user-button', type: 'button', onClick: () => void signIn() }, texts.signIn)
  return h(
    'details',
    { 'data-part': 'user-button' },
    h(
      'summary',
      null,
      session.user?.image && h('img', { src: session.user.image, alt: '', referrerPolicy: 'no-referrer' }),
      userLabel(session.user),
    ),
    accountUrl !== undefined && h('a', { href: accountUrl }, texts.account),
    h('button', { type: 'button', onClick: () => void signOut() }, texts.signOut),
  )
}

/** Who is signed in, and what they can connect: other providers and passkeys. Shows `SignInForm` to signed-out users. */
export const AccountPage: FunctionComponent<PartProps> = ({ texts: own }) => {
  const { status, session, signOut } = useSession()
  const client = useAuthClient()
  const texts = partTexts(own)
  const [choices, failure] = useChoices(client, own)
  const [note, setNote] = useState<string>()
  if (status === 'loading') return h('section', { 'data-part': 'account-page', 'aria-busy': true })
  if (status === 'unauthenticated') return h(SignInForm, { texts: own })
  const add = (id: string) => async (): Promise<void> => setNote((await addPasskey(client, id, texts)) ?? texts.passkeyAdded)
  return h(
    'section',
    { 'data-part': 'account-page' },
    h('h2', null, userLabel(session.user)),
    session.user?.email && h('p', null, session.user.email),
    (note ?? failure) !== undefined && h('p', { role: 'status' }, note ?? failure),
    choices?.map(({ id, name, type }) => {
      if (type === 'webauthn')
        return h('button', { key: id, type: 'button', 'data-provider': id, onClick: () => void add(id)() }, texts.addPasskey)
      const connects = type === 'oauth' || type === 'oidc'
      return (
        connects && h('button', { key: id, type: 'button', 'data-provider': id, onClick: () => void client.signIn(id) }, texts.link(name))
      )
    }),
    h('button', { type: 'button', onClick: () => void signOut() }, texts.signOut),
  )
}

const ChoiceForm: FunctionComponent<{ choice: Choice; client: Client; texts: PartTexts; redirectTo: string | undefined }> = (props) => {
  const { choice, client, texts, redirectTo } = props
  const id = useId()
  const [message, setMessage] = useState<string>()
  const [busy, setBusy] = useState(false)
  const submit = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault()
    setBusy(true)
    setMessage(undefined)
    setMessage(await submitChoice(client, choice, event.currentTarget, texts, redirectTo))
    setBusy(false)
  }
  return h(
    'form',
    {
      'data-provider': choice.id,
      'aria-label': choice.label,
      'aria-busy': busy,
      onSubmit: (event: FormEvent<HTMLFormElement>) => void submit(event),
    },
    choice.fields.map((field) => drawInput(field, `${id}${field.name}`)),
    message !== undefined && h('p', { role: 'alert' }, message),
    h('button', { type: 'submit', disabled: busy }, choice.label),
  )
}

// React has names of its own for these.
const properties: Readonly<Record<string, string>> = {
  autocomplete: 'autoComplete',
  inputmode: 'inputMode',
  maxlength: 'maxLength',
  minlength: 'minLength',
  readonly: 'readOnly',
  autofocus: 'autoFocus',
  value: 'defaultValue',
}

function drawInput({ name, label, attributes }: ChoiceField, id: string): ReactNode {
  const given = Object.fromEntries(Object.entries(attributes).map(([key, value]) => [properties[key.toLowerCase()] ?? key, value]))
  const field = h('input', { ...given, key: id, id, name })
  return attributes['type'] === 'hidden' ? field : h('div', { key: id }, h('label', { htmlFor: id }, label), field)
}

function useChoices(client: Client, own: Partial<PartTexts> | undefined): [Choice[] | undefined, string | undefined] {
  const [found, setFound] = useState<[Choice[] | undefined, string | undefined]>([undefined, undefined])
  useEffect(() => {
    let current = true
    const texts = partTexts(own)
    signInChoices(client, texts).then(
      (choices) => current && setFound([choices, undefined]),
      () => current && setFound([undefined, texts.messages['failed']]),
    )
    return () => {
      current = false
    }
  }, [client, own])
  return found
}

function userLabel(user: { name?: string | null; email?: string | null } | undefined): string {
  return user?.name ?? user?.email ?? ''
}
