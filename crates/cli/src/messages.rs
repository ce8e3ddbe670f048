//! Error texts of this command, which name the option that helps, and its exit status.

use firstread_session::split::SplitError;
use firstread_session::{Error, NotATrace, TraceArg, Unknown};
use firstread_workload::WorkloadError;
use firstread_workload::fio::SyntaxError;

use crate::args::{CLAMP, Usage, WRAP, option_of};

pub fn error_text(error: &anyhow::Error) -> String {
    let cause = |cause: &(dyn std::error::Error + 'static)| match cause.downcast_ref() {
        Some(error) => of_session(error),
        None => cause.to_string(),
    };
    let causes: Vec<String> = error.chain().map(cause).collect();
    causes.join(": ")
}

/// Whether the command line is wrong: an unknown name, options that do not go together.
pub fn is_usage(error: &anyhow::Error) -> bool {
    let of_session = error.downcast_ref().map(Error::cause);
    error.is::<Usage>()
        || error.is::<Unknown>()
        || matches!(
            of_session,
            Some(
                Error::Unknown(_)
                    | Error::NotATrace(_)
                    | Error::Columns(_)
                    | Error::Pattern(_)
                    | Error::CommandLine(_)
                    | Error::UnusedVariable(_)
                    | Error::ToldTwice(..)
            )
        )
        || matches!(of_session, Some(Error::Plan(error)) if error.is_of_input())
        // Whether data age too much is known after a part has run.
        || matches!(of_session, Some(Error::Split(why)) if !matches!(why, SplitError::Ages { .. }))
}

fn of_session(error: &Error) -> String {
    match error {
        Error::Of { place, error } => format!("{place}: {}", of_session(error)),
        Error::NotATrace(not @ NotATrace { arg, .. }) => not.says(option_of(*arg)),
        Error::Columns(error) => format!("{}: {error}", option_of(TraceArg::Columns)),
        Error::UnusedVariable(name) => format!("--var {name}: {error}"),
        Error::Workload(WorkloadError::Syntax {
            why: SyntaxError::Variable(name),
            ..
        }) => format!("{error}: --var {name}=VALUE"),
        Error::Pattern(error) => format!("{}: {error}", option_of(TraceArg::Pattern)),
        Error::ToldTwice(one, other) => format!(
            "{} and {} cannot be given together",
            option_of(*one),
            option_of(*other)
        ),
        Error::Workload(error @ WorkloadError::UnknownFormat { .. }) => format!(
            "{error}; tell columns of your own by {}, say time:us,op,offset:B,size:B, or lines by {}",
            option_of(TraceArg::Columns),
            option_of(TraceArg::Pattern)
        ),
        Error::Workload(error @ WorkloadError::PastTheEnd { .. }) => {
            format!("{error} with {WRAP}")
        }
        Error::Workload(error @ WorkloadError::TimeBack { .. }) => {
            let text = error.to_string();
            format!(
                "{} {CLAMP}",
                text.trim_end_matches("the policy `clamp`").trim_end()
            )
        }
        other => other.to_string(),
    }
}
