import { useDesk } from './desk';

/** In place of an act while something is not saved: it would be done with other decisions than those that were meant. */
export function Unsaved() {
  const { saveAgain, refused, acknowledge } = useDesk();
  return (
    <div className="failure" role="alert">
      <strong>{refused ? 'The server refused something that you decided.' : 'Not everything that you decided is saved.'}</strong>
      <p>{refused ? `It is taken back: ${refused}.` : 'Until it is, nothing is done with this review.'}</p>
      <button type="button" onClick={refused ? acknowledge : saveAgain}>
        {refused ? 'Go on without' : 'Try again'}
      </button>
    </div>
  );
}
