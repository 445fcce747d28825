import { useDesk } from './desk';

/** In place of an act while something is not saved: it would be done with other decisions than those that are shown. */
export function Unsaved() {
  const { saveAgain } = useDesk();
  return (
    <div className="failure" role="alert">
      <strong>Not everything that you decided is saved.</strong>
      <p>Until it is, nothing is done with this review.</p>
      <button type="button" onClick={saveAgain}>
        Try again
      </button>
    </div>
  );
}
