/** Stands for the input of shadcn/ui. */
import type { ComponentProps, ReactNode } from 'react'

export function Input(props: ComponentProps<'input'>): ReactNode {
  return <input data-slot="input" {...props} />
}
