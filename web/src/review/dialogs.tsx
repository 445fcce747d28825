import { post } from '../api/client';
import type { Review } from '../api/types';
import { Confirm } from '../ui/dialog';
import { toast, toastRefusal } from '../ui/toasts';
import { Apply } from './apply';
import { useDesk } from './desk';
import { Fetch } from './fetch';
import { SendBack } from './send-back';
import { SummaryDialog } from './summary';

export type Dialog = 'apply' | 'send-back' | 'dismiss' | 'fetch' | 'summary';

export default function Dialogs({ open, onClose }: { open: Dialog | undefined; onClose: () => void }) {
  const desk = useDesk();
  const dismiss = async () => {
    try {
      const revision = await desk.confirmed();
      desk.take(await post<Review>(`${desk.path}/dismiss`, { revision }));
      toast('The run was put aside');
    } catch (error) {
      toastRefusal('It was not dismissed', error);
      await desk.again();
    }
  };
  return (
    <>
      <Apply open={open === 'apply'} onClose={onClose} />
      <SendBack open={open === 'send-back'} onClose={onClose} />
      <Fetch open={open === 'fetch'} onClose={onClose} />
      <SummaryDialog open={open === 'summary'} onClose={onClose} />
      <Confirm
        open={open === 'dismiss'}
        onClose={onClose}
        onYes={() => void dismiss()}
        title="Put this run aside?"
        text="Nothing of it is applied, and it waits for nobody any more. Verdicts and comments are kept."
        yes="Dismiss"
      />
    </>
  );
}
