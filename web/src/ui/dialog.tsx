import * as Dialog from '@radix-ui/react-dialog';
import type { ReactNode } from 'react';
import { Icon } from './icons';

type Props = { open: boolean; onClose: () => void; title: string; description?: string; children: ReactNode; wide?: boolean };

export function Modal({ open, onClose, title, description, children, wide }: Props) {
  return (
    <Dialog.Root open={open} onOpenChange={(now) => !now && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="overlay" />
        <Dialog.Content className={wide ? 'dialog wide' : 'dialog'} {...(description ? {} : { 'aria-describedby': undefined })}>
          <header>
            <Dialog.Title>{title}</Dialog.Title>
            <Dialog.Close className="ghost small" aria-label="Close">
              <Icon name="cross" size={14} />
            </Dialog.Close>
          </header>
          {description && <Dialog.Description className="soft">{description}</Dialog.Description>}
          {children}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

type ConfirmProps = { open: boolean; onClose: () => void; onYes: () => void; title: string; text: string; yes: string; danger?: boolean };

export function Confirm({ open, onClose, onYes, title, text, yes, danger }: ConfirmProps) {
  return (
    <Modal open={open} onClose={onClose} title={title} description={text}>
      <div className="actions">
        <button onClick={onClose}>Back</button>
        <button
          className={danger ? 'danger' : 'primary'}
          onClick={() => {
            onClose();
            onYes();
          }}
        >
          {yes}
        </button>
      </div>
    </Modal>
  );
}
