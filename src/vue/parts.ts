/** Components without styles: they draw what the server offers. Style them by their elements, `data-part` and `data-provider`. */
import { addPasskey, type Choice, type ChoiceField, partTexts, type PartTexts, signInChoices, submitChoice } from 'authkernel/client'
import { type Component, defineComponent, h, onMounted, type PropType, ref, shallowRef, useId, type VNode } from 'vue'
import { useAuthClient, useSession } from './session.ts'

/** A component with these properties. */
export type PartComponent<Props> = Component<Props & { texts?: Partial<PartTexts> }>

const texts = { type: Object as PropType<Partial<PartTexts>>, default: undefined }

/** A form for each way to sign in that the server offers. `redirectTo`: where to go afterwards; default: this page. */
export const SignInForm: PartComponent<{ redirectTo?: string }> = defineComponent({
  name: 'SignInForm',
  props: { redirectTo: { type: String, default: undefined }, texts },
  setup(props) {
    const { choices, failure } = useChoices(props)
    return () =>
      h('div', { 'data-part': 'sign-in-form', 'aria-busy': choices.value === undefined && failure.value === undefined }, [
        failure.value !== undefined && h('p', { role: 'alert' }, failure.value),
        choices.value?.map((choice) => h(ChoiceForm, { key: choice.id, choice, ...givenTexts(props) })),
      ])
  },
}) as PartComponent<{ redirectTo?: string }>

/** Who is signed in, with a way to the account page (`accountUrl`) and out; else a button that leads to the sign-in page. */
export const UserButton: PartComponent<{ accountUrl?: string }> = defineComponent({
  name: 'UserButton',
  props: { accountUrl: { type: String, default: undefined }, texts },
  setup(props) {
    const { state, signIn, signOut } = useSession()
    return () => {
      const { status, session } = state.value
      const say = partTexts(props.texts)
      if (status === 'loading') return h('div', { 'data-part': 'user-button', 'aria-busy': true })
      if (status === 'unauthenticated')
        return h('button', { 'data-part': 'user-button', type: 'button', onClick: () => void signIn() }, say.signIn)
      const image = session.user?.image
      return h('details', { 'data-part': 'user-button' }, [
        h('summary', [image && h('img', { src: image, alt: '', referrerpolicy: 'no-referrer' }), userLabel(session.user)]),
        props.accountUrl !== undefined && h('a', { href: props.accountUrl }, say.account),
        h('button', { type: 'button', onClick: () => void signOut() }, say.signOut),
      ])
    }
  },
}) as PartComponent<{ accountUrl?: string }>

/** Who is signed in, and what they can connect: other providers and passkeys. Shows `SignInForm` to signed-out users. */
export const AccountPage: PartComponent<object> = defineComponent({
  name: 'AccountPage',
  props: { texts },
  setup(props) {
    const { state, signOut } = useSession()
    const client = useAuthClient()
    const { choices, failure } = useChoices(props)
    const note = ref<string>()
    const add = async (id: string): Promise<void> => {
      const say = partTexts(props.texts)
      note.value = (await addPasskey(client, id, say)) ?? say.passkeyAdded
    }
    return () => {
      const { status, session } = state.value
      const say = partTexts(props.texts)
      if (status === 'loading') return h('section', { 'data-part': 'account-page', 'aria-busy': true })
      if (status === 'unauthenticated') return h(SignInForm, { texts: props.texts ?? {} })
      const text = note.value ?? failure.value
      return h('section', { 'data-part': 'account-page' }, [
        h('h2', userLabel(session.user)),
        session.user?.email && h('p', session.user.email),
        text !== undefined && h('p', { role: 'status' }, text),
        choices.value?.map(({ id, name, type }) => {
          const button = { key: id, type: 'button', 'data-provider': id }
          if (type === 'webauthn') return h('button', { ...button, onClick: () => void add(id) }, say.addPasskey)
          return (type === 'oauth' || type === 'oidc') && h('button', { ...button, onClick: () => void client.signIn(id) }, say.link(name))
        }),
        h('button', { type: 'button', onClick: () => void signOut() }, say.signOut),
      ])
    }
  },
}) as PartComponent<object>

const ChoiceForm = defineComponent({
  props: { choice: { type: Object as PropType<Choice>, required: true }, redirectTo: { type: String, default: undefined }, texts },
  setup(props) {
    const client = useAuthClient()
    const id = useId()
    const message = ref<string>()
    const busy = ref(false)
    const submit = async (event: Event): Promise<void> => {
      event.preventDefault()
      busy.value = true
      message.value = undefined
      message.value = await submitChoice(
        client,
        props.choice,
        event.currentTarget as HTMLFormElement,
        partTexts(props.texts),
        props.redirectTo,
      )
      busy.value = false
    }
    return () => {
      const { choice } = props
      const form = { 'data-provider': choice.id, 'aria-label': choice.label, 'aria-busy': busy.value, onSubmit: submit }
      return h('form', form, [
        choice.fields.map((field) => drawInput(field, `${id}-${field.name}`)),
        message.value !== undefined && h('p', { role: 'alert' }, message.value),
        h('button', { type: 'submit', disabled: busy.value }, choice.label),
      ])
    }
  },
})

function drawInput({ name, label, attributes }: ChoiceField, id: string): VNode {
  const field = h('input', { ...attributes, key: id, id, name })
  return attributes['type'] === 'hidden' ? field : h('div', { key: id }, [h('label', { for: id }, label), field])
}

function useChoices(props: { readonly texts?: Partial<PartTexts> | undefined }): {
  choices: { readonly value: Choice[] | undefined }
  failure: { readonly value: string | undefined }
} {
  const client = useAuthClient()
  const choices = shallowRef<Choice[]>()
  const failure = ref<string>()
  onMounted(async () => {
    const say = partTexts(props.texts)
    try {
      choices.value = await signInChoices(client, say)
    } catch {
      failure.value = say.messages['failed']
    }
  })
  return { choices, failure }
}

/** Properties without those that were left out. */
function givenTexts(props: { readonly redirectTo?: string | undefined; readonly texts?: Partial<PartTexts> | undefined }): {
  redirectTo?: string
  texts?: Partial<PartTexts>
} {
  const { redirectTo, texts } = props
  return { ...(redirectTo !== undefined && { redirectTo }), ...(texts && { texts }) }
}

function userLabel(user: { name?: string | null; email?: string | null } | undefined): string {
  return user?.name ?? user?.email ?? ''
}
