/** Pages of the device flow: the field for the code, and the question about the device. Their texts are those of deviceFlowPlugin, under names of this one. */
import type { Kernel, Messages } from 'authkernel/kernel'
import { messages } from '../device-flow/messages.ts'
import { drawCodeForm, drawQuestion } from '../device-flow/pages.ts'

const texts = 'authorization-server.device'

/** Adds the pages, their texts, and the mail about a device that was let in. */
export function addDevicePages(kernel: Kernel): void {
  kernel.messages(ownMessages())
  kernel.mailTemplate('authorization-server.device', {
    subject: 'authorization-server.device.notice.subject',
    lines: ['authorization-server.device.notice.what', 'authorization-server.device.notice.from', 'authorization-server.device.notice.do'],
  })
  kernel.page('clientDevice', (ctx, tools, params) => drawCodeForm(ctx, tools, params, { action: '/oauth2/device', texts }), {
    path: '/oauth2/device',
  })
  // Without a route of its own: it is the answer to a code that was typed.
  kernel.page('clientDeviceConfirm', (_ctx, tools, params) => {
    const details = JSON.parse(params['details'] ?? '[]') as [label: string, value: string][][]
    const more = details.map((lines) => tools.facts(lines))
    return drawQuestion(tools, params, { action: '/oauth2/device/decide', texts, scopes: 'authorization-server.scope', more })
  })
}

function ownMessages(): Messages {
  const rename = (key: string): string => key.replace(/^device-flow\./, `${texts}.`)
  return Object.fromEntries(
    Object.entries(messages).map(([language, entries]) => [
      language,
      Object.fromEntries(Object.entries(entries ?? {}).map(([key, text]) => [rename(key), text])),
    ]),
  )
}
