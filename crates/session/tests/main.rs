//! Tests of sessions from outside.
//! One program: as programs of their own, the files would each be linked with the whole drive.

mod burn_in;
mod documented;
mod evidence;
mod fio_json;
mod life;
mod lives;
mod matrix;
mod medium;
mod own_study;
mod planned;
mod published_rows;
mod schema;
mod simulate;
mod split;
mod tension;
mod trace_events;
mod written_down;
